#include "support/options.hpp"

#include <CLI/CLI.hpp>

namespace muster::testing {

Options::Options(const std::string& about) : app_(std::make_unique<CLI::App>(about)) {}

Options::~Options() = default;

void Options::add(const std::string& name, bool& flag, const std::string& about) {
  app_->add_flag(name, flag, about);
}

void Options::add(const std::string& name, std::uint32_t& number, const std::string& about) {
  app_->add_option(name, number, about)->capture_default_str();
}

void Options::add(const std::string& name, std::uint64_t& number, const std::string& about) {
  app_->add_option(name, number, about)->capture_default_str();
}

void Options::add(const std::string& name, double& number, const std::string& about) {
  app_->add_option(name, number, about)->capture_default_str();
}

void Options::add(const std::string& name, std::string& word, const std::string& about) {
  app_->add_option(name, word, about)->capture_default_str();
}

void Options::add(const std::string& name, std::vector<std::uint32_t>& numbers,
                  const std::string& about) {
  app_->add_option(name, numbers, about)->delimiter(',')->capture_default_str();
}

void Options::add(const std::string& name, std::vector<std::string>& words,
                  const std::vector<std::string>& known, const std::string& about) {
  app_->add_option(name, words, about)->check(CLI::IsMember(known));
}

bool Options::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code_ = app_->exit(error) == 0 ? 0 : 2;
    return false;
  }
  return true;
}

}  // namespace muster::testing
