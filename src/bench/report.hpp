// What a measurement says: a table for people, JSON for the record.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "bench/machine.hpp"
#include "bench/measure.hpp"

namespace muster::bench {

struct Conditions {
  Machine machine;
  std::string command;
  std::string date;
  double load_before = 0;  // the kernel's average over the minute before
  double busy_before = 0;  // share of the cores that others took just before and just after
  double busy_after = 0;
};

struct Report {
  const Topic& topic;
  const Request& request;
  const Conditions& conditions;
  const std::vector<Measured>& measured;
};

[[nodiscard]] const char* name_of(As as);  // "processes"

// The table, then one line for each contender without times. Ends with a newline.
[[nodiscard]] std::string table(const Report& report);

[[nodiscard]] nlohmann::json to_json(const Report& report);

// Why the times may be wrong: one line each; empty on a quiet machine with a release build.
[[nodiscard]] std::vector<std::string> warnings(const Conditions& conditions);

}  // namespace muster::bench
