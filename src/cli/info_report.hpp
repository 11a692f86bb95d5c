// What `muster info` finds out, and how it is shown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace muster::cli {

// One finding: a line of the table, a member of the JSON.
struct Finding {
  std::string key;  // as in the JSON; the table shows it with spaces
  nlohmann::ordered_json value;
  std::string text;  // as in the table
};

// A part of muster, and what this machine has for it.
struct Section {
  std::string name;
  std::string missing;  // why this part cannot be used here; empty where it can
  std::vector<Finding> findings;
};

// What each part needs is tried, not guessed from versions.
[[nodiscard]] Section host_section();
[[nodiscard]] Section gpu_section();
[[nodiscard]] Section ucx_section();
[[nodiscard]] Section checker_section();
[[nodiscard]] Section peers_section();

// What this process's control groups and resource limits leave it.
[[nodiscard]] std::vector<Finding> limit_findings();

// A finding that is a yes, or a no with the reason.
[[nodiscard]] Finding yes_or_no(std::string key, const std::string& why_not);

// "0-3, 8" for {0, 1, 2, 3, 8}
[[nodiscard]] std::string as_ranges(const std::vector<int>& numbers);

[[nodiscard]] std::string as_table(const std::vector<Section>& sections);
[[nodiscard]] nlohmann::ordered_json as_json(const std::vector<Section>& sections);

}  // namespace muster::cli
