#include "cli/info_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/build_info.hpp"

namespace muster::cli {

Finding yes_or_no(std::string key, const std::string& why_not) {
  if (why_not.empty()) return {std::move(key), true, "yes"};
  return {std::move(key), false, fmt::format("no: {}", why_not)};
}

std::string as_ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", numbers[first])
                          : fmt::format("{}-{}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

std::string as_table(const std::vector<Section>& sections) {
  std::size_t width = 0;
  for (const Section& section : sections) {
    for (const Finding& finding : section.findings) width = std::max(width, finding.key.size());
  }
  std::string table = fmt::format("muster {}\n", version);
  for (const Section& section : sections) {
    table +=
        fmt::format("\n{:{}}    {}\n", section.name, width,
                    section.missing.empty() ? "available" : "not available: " + section.missing);
    for (const Finding& finding : section.findings) {
      std::string key = finding.key;
      std::replace(key.begin(), key.end(), '_', ' ');
      table += fmt::format("  {:{}}  {}\n", key, width, finding.text);
    }
  }
  return table;
}

nlohmann::ordered_json as_json(const std::vector<Section>& sections) {
  nlohmann::ordered_json json{{"version", version}};
  for (const Section& section : sections) {
    nlohmann::ordered_json& part = json[section.name];
    part["available"] = section.missing.empty();
    if (!section.missing.empty()) part["missing"] = section.missing;
    for (const Finding& finding : section.findings) {
      part[finding.key] = finding.value;
      // The reason of a no is of use to a script's author, too.
      if (finding.value.is_boolean() && !finding.value.get<bool>()) {
        part[finding.key + "_why"] = finding.text.substr(std::string_view("no: ").size());
      }
    }
  }
  return json;
}

}  // namespace muster::cli
