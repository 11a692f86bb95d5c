// muster check: a protocol under weak memory.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "check/command.hpp"

namespace muster::cli {

namespace {

// An own check program takes the same options: it is run with all of them but its name.
bool is_program(const std::string& name) {
  return name.find('/') != std::string::npos && check::find(name) == nullptr &&
         access(name.c_str(), X_OK) == 0;
}

int run_program(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  words.push_back(const_cast<char*>(program.c_str()));
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  std::cerr << "muster check: " << program << ": " << std::strerror(errno) << '\n';
  return 2;
}

// What the command line says after the verb, without the program's name.
std::vector<std::string> words_after_verb(const std::string& program) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  bool after_verb = false;
  for (std::string word; std::getline(file, word, '\0');) {
    if (after_verb && word != program) words.push_back(word);
    after_verb = after_verb || word == "check";
  }
  return words;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  auto* verb = app.add_subcommand("check", "certify or refute a protocol under weak memory");
  auto command = std::make_shared<check::Command>();
  verb->add_option("names", command->names, "checks (--list), or the path of an own check program");
  check::add_options(*verb, *command);
  verb->callback([command, &status] {
    if (command->names.empty() && !command->list && command->replay.empty())
      throw CLI::ValidationError("muster check", "which one? --list names them");
    if (!command->names.empty() && is_program(command->names[0]))
      status = run_program(command->names[0], words_after_verb(command->names[0]));
    else
      status = check::run(*command);
  });
}

}  // namespace muster::cli
