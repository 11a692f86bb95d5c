// What every step of the tutorial takes on its command line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "muster/run.hpp"

namespace CLI {
class App;
}

namespace tutorial {

// Its methods are compiled once for all steps: CLI11 is all headers, and long to compile.
class CommandLine {
 public:
  explicit CommandLine(const std::string& about);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void add_flag(const std::string& name, bool& flag, const std::string& about);
  void add_text(const std::string& name, std::string& text, const std::string& about,
                const std::string& kind);
  void add_choice(const std::string& name, std::string& word, const std::vector<std::string>& words,
                  const std::string& about);

  // Where -n is not given.
  void default_ranks(std::uint32_t ranks) { run_.ranks = ranks; }

  // False where the program must end now, with exit_code(): after --help, or a usage error (2).
  [[nodiscard]] bool parse(int argc, char** argv);
  [[nodiscard]] int exit_code() const { return exit_code_; }

  [[nodiscard]] const muster::RunOptions& run() const { return run_; }

 private:
  std::unique_ptr<CLI::App> app_;
  muster::RunOptions run_{};
  bool threads_ = false;
  int exit_code_ = 0;
};

}  // namespace tutorial
