// The command `muster`: finds the verb and turns what comes of it into an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "cli/build_info.hpp"
#include "cli/program_verb.hpp"
#include "cli/verbs.hpp"

namespace muster::cli {
namespace {

constexpr int failed_status = 1;
constexpr int usage_status = 2;
constexpr int unwritten_status = 4;  // 1 would read as an answer: refuted, slower, disagrees

// "muster bench barrier": the command as far as it was understood.
std::string name_of_command(const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) {
    last = last->get_subcommands().front();
    name += " " + last->get_name();
  }
  return name;
}

// Empty where the first word is a verb, or an option of the command itself.
std::string objection_to(const std::string& first_word, CLI::App& app) {
  if (first_word.starts_with('-')) return {};
  std::string known;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->check_name(first_word)) return {};
    known += (known.empty() ? "" : ", ") + verb->get_name();
  }
  return fmt::format("there is no verb '{}'; there are {}", printable(first_word), known);
}

int run(const std::vector<std::string>& words) {
  CLI::App app("Signals, barriers and transfers between ranks, checked before they run", "muster");
  app.set_version_flag("--version", fmt::format("muster {}", version));
  app.require_subcommand(1);
  int status = 0;
  for (const AddVerb add : verbs()) add(app, status);

  if (words.empty()) {
    fmt::print(stderr, "{}", app.help());
    return usage_status;
  }
  if (const std::string wrong = objection_to(words.front(), app); !wrong.empty()) {
    fmt::print(stderr, "muster: {}\nsee muster --help\n", wrong);
    return usage_status;
  }
  std::vector<std::string> arguments = words;
  for (CLI::App* verb : app.get_subcommands({})) {
    if (auto* starter = dynamic_cast<ProgramVerb*>(verb)) starter->take_program(arguments);
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::Success& asked) {
    status = app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& error) {
    const std::string name = name_of_command(app);
    fmt::print(stderr, "{}: {}\nsee {} --help\n", name, printable(error.what()), name);
    return usage_status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name_of_command(app), printable(error.what()));
    return failed_status;
  }
  // What could not be written was not said.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.flush()) {
    fmt::print(stderr, "muster: the output could not be written\n");
    return status == 0 ? unwritten_status : status;
  }
  return status;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) {
  try {
    return muster::cli::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    // What was to be said could not be, perhaps because there is no stderr.
    std::fprintf(stderr, "muster: %s\n", error.what());
    return muster::cli::unwritten_status;
  }
}
