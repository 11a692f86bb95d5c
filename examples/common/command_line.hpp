// What every step of the tutorial takes on its command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/run.hpp"

namespace tutorial {

class CommandLine {
 public:
  explicit CommandLine(const std::string& about) : app_(about) {
    app_.add_option("-n,--ranks", run_.ranks,
                    "How many ranks to start (a launcher has decided this already)")
        ->check(CLI::Range(1U, 1024U));
    app_.add_flag("--threads", threads_, "Ranks are threads of one process, not processes");
  }

  void add_flag(const std::string& name, bool& flag, const std::string& about) {
    app_.add_flag(name, flag, about);
  }

  void add_choice(const std::string& name, std::string& word, const std::vector<std::string>& words,
                  const std::string& about) {
    app_.add_option(name, word, about)->check(CLI::IsMember(words))->capture_default_str();
  }

  // Where -n is not given.
  void default_ranks(std::uint32_t ranks) { run_.ranks = ranks; }

  // False where the program must end now, with exit_code(): after --help, or a usage error (2).
  [[nodiscard]] bool parse(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      exit_code_ = app_.exit(error) == 0 ? 0 : 2;
      return false;
    }
    if (threads_) run_.as = muster::threads;
    return true;
  }
  [[nodiscard]] int exit_code() const { return exit_code_; }

  [[nodiscard]] const muster::RunOptions& run() const { return run_; }

 private:
  CLI::App app_;
  muster::RunOptions run_{};
  bool threads_ = false;
  int exit_code_ = 0;
};

}  // namespace tutorial
