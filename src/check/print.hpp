// Reports for people, and for programs.
#pragma once

#include <string>
#include <vector>

#include "check/configuration.hpp"
#include "muster/check.hpp"

namespace muster::check {

// The events in the failure's causal past, one column for each rank.
[[nodiscard]] std::string event_table(const Report& report, std::uint32_t ranks, std::size_t width);

// The whole counterexample.
[[nodiscard]] std::string counterexample(const Entry& entry, const Smallest& failure,
                                         const std::vector<Repair>& repairs, std::size_t width);

// One line for one profile, without the time.
[[nodiscard]] std::string verdict_line(const Report& report, const Options& options);

// The checks of this program, in columns with a heading.
[[nodiscard]] std::string list_of_checks(const std::vector<Entry>& entries);

// The report as a JSON object in one line; docs/checking.md names its fields.
[[nodiscard]] std::string as_json(const Entry& entry, const Options& options, const Report& report,
                                  const std::vector<Repair>& repairs, double seconds);

}  // namespace muster::check
