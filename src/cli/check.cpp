// muster check: a protocol under weak memory.
#include <CLI/CLI.hpp>
#include <memory>

#include "check/command.hpp"
#include "cli/check_program.hpp"
#include "cli/numbers.hpp"

namespace muster::cli {

void add_check(CLI::App& app, int& status) {
  auto* verb = app.add_subcommand("check", "certify or refute a protocol under weak memory");
  auto command = std::make_shared<check::Command>();
  verb->add_option(
      "names", command->names,
      "checks (--list), with --all groups of them too, or the path of an own check program");
  check::add_options(*verb, *command);
  verb->callback([command, &status] {
    if (command->names.empty() && !command->all && !command->list && !command->replay)
      throw UsageError("which one? --list names them, --all runs those that are meant to pass");
    if (!command->names.empty() && names_program(command->names[0]))
      run_check_program(command->names[0]);
    status = check::run(*command);
  });
}

}  // namespace muster::cli
