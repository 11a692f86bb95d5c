#include "command_line.hpp"

#include <CLI/CLI.hpp>

namespace tutorial {

CommandLine::CommandLine(const std::string& about) : app_(std::make_unique<CLI::App>(about)) {
  app_->add_option("-n,--ranks", run_.ranks,
                   "How many ranks to start (a launcher has decided this already)")
      ->check(CLI::Range(1U, 1024U));
  app_->add_flag("--threads", threads_, "Ranks are threads of one process, not processes");
}

CommandLine::~CommandLine() = default;

void CommandLine::add_flag(const std::string& name, bool& flag, const std::string& about) {
  app_->add_flag(name, flag, about);
}

void CommandLine::add_text(const std::string& name, std::string& text, const std::string& about,
                           const std::string& kind) {
  app_->add_option(name, text, about)->type_name(kind);
}

void CommandLine::add_choice(const std::string& name, std::string& word,
                             const std::vector<std::string>& words, const std::string& about) {
  app_->add_option(name, word, about)->check(CLI::IsMember(words))->capture_default_str();
}

bool CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code_ = app_->exit(error) == 0 ? 0 : 2;
    return false;
  }
  if (threads_) run_.as = muster::threads;
  return true;
}

}  // namespace tutorial
