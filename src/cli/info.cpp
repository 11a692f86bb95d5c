// `muster info`: what this machine offers each part of muster, and why something is missing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/build_info.hpp"
#include "cli/info_report.hpp"

namespace muster::cli {

Section ucx_section() {
  return {"ucx", without_ucx, {}};
}

Section checker_section() {
  return {"checker", without_check, {}};
}

// Status 0: the question was answered, whatever is missing.
void add_info(CLI::App& app, int& status) {
  CLI::App* verb = app.add_subcommand("info", "Show what this machine offers, per fabric");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "As JSON: an object with a member for each part");
  verb->callback([&status, json] {
    const std::vector<Section> sections{host_section(), gpu_section(), ucx_section(),
                                        checker_section(), peers_section()};
    const std::string text = *json ? as_json(sections).dump(2) + "\n" : as_table(sections);
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!written) fmt::print(stderr, "muster info: cannot write to stdout\n");
    status = written ? 0 : 1;
  });
}

}  // namespace muster::cli
