#include "bench/curves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::bench {

namespace {

Look look_of(Role role) {
  switch (role) {
    case Role::muster: return Look::own;
    case Role::peer: return Look::peer;
    case Role::floor:
    case Role::bare: return Look::reference;
  }
  return Look::own;
}

// The line of a contender and a variant, which begins where there is none of that name.
Line& line_of(std::vector<Line>& lines, const Contender& contender, const std::string& variant) {
  const std::string name =
      variant.empty() ? contender.name : fmt::format("{}, {}", contender.name, variant);
  for (Line& line : lines)
    if (line.name == name) return line;
  return lines.emplace_back(Line{name, look_of(contender.role), {}});
}

// "2 ranks as processes", without the number where it is the axis; or the devices that the topic
// has found for itself.
std::string where(const Measurement& run, bool by_size) {
  const std::string& devices = run.conditions.machine.devices;
  if (!devices.empty()) return devices;
  const std::string ranks = by_size ? fmt::format("{} ranks", run.request.ranks) : "ranks";
  return fmt::format("{} as {}", ranks, name_of(run.request.as));
}

std::string caption_of(const std::vector<Measurement>& runs) {
  const Measurement& first = runs.front();
  const bool noisy = std::any_of(runs.begin(), runs.end(), [](const Measurement& run) {
    return !warnings(run.conditions).empty();
  });
  return fmt::format("{}; {}, {} cores; commit {}; median of {} rounds of {} blocks{}",
                     first.conditions.date, first.conditions.machine.cpu,
                     first.conditions.machine.cores.size(), first.conditions.machine.commit,
                     first.request.rounds, first.request.repeat,
                     noisy ? "; NOT a quiet measurement" : "");
}

}  // namespace

Chart chart_of(const Topic& topic, const std::vector<Measurement>& runs) {
  const Request& first = runs.front().request;
  const bool by_size = std::any_of(runs.begin(), runs.end(), [&](const Measurement& run) {
    return run.request.bytes != first.bytes;
  });
  Chart chart{.title = fmt::format("muster bench {}: {}, fabric {}", topic.name,
                                   where(runs.front(), by_size), topic.fabric),
              .caption = caption_of(runs),
              .x_title = by_size ? "size of a message" : "ranks",
              .y_title = fmt::format("time of one {} (median)", topic.unit),
              .x_is_bytes = by_size,
              .lines = {}};
  if (!by_size && first.bytes != 0)
    chart.y_title = fmt::format("time of one {} of {} (median)", topic.unit,
                                bytes_label(static_cast<double>(first.bytes)));
  for (const Measurement& run : runs) {
    const auto x = static_cast<double>(by_size ? run.request.bytes : run.request.ranks);
    for (const Measured& one : run.measured) {
      Line& line = line_of(chart.lines, one.contender, run.request.variant);
      if (!one.rounds.empty()) line.points.push_back({x, std::max(median(one.per_round()), 0.1)});
    }
  }
  for (Line& line : chart.lines)
    std::sort(line.points.begin(), line.points.end(),
              [](const Point& a, const Point& b) { return a.x < b.x; });
  return chart;
}

}  // namespace muster::bench
