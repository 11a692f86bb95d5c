// A verb that starts a program: muster run [its own options] program [the program's own].
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace muster::cli {

// The program's command line is set apart before CLI11 looks at anything: CLI11 would take the
// program's options for ours, end the verb at "--", and split arguments such as "[1,2]".
class ProgramVerb : public CLI::App {
 public:
  ProgramVerb(const std::string& description, const std::string& name);

  // `arguments` is all of the command line, the verb first. Takes the program and what follows it
  // out; so it does with a "--" before it.
  void take_program(std::vector<std::string>& arguments);

  // The program and its arguments; empty where none was given.
  [[nodiscard]] const std::vector<std::string>& program() const { return program_; }

 private:
  // How many words the option that starts with `word` takes, itself included.
  [[nodiscard]] std::ptrdiff_t words_of(const std::string& word) const;

  std::vector<std::string> program_;
};

}  // namespace muster::cli
