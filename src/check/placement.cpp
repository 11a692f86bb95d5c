// A placement as text, and back.
#include "muster/check/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace muster::check {

const char* name_of(Domain domain) {
  switch (domain) {
    case Domain::host: return "host";
    case Domain::gpu: return "gpu";
    case Domain::nic: return "nic";
  }
  return "?";
}

namespace {

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

// "all", "3", "all.1", "3.1"
bool read_who(std::string_view text, Placed& placed) {
  const auto dot = text.find('.');
  const std::string_view rank = text.substr(0, dot);
  placed.rank = number(rank);
  if (!placed.rank && rank != "all") return false;
  if (dot == std::string_view::npos) return true;
  placed.lane = number(text.substr(dot + 1));
  return placed.lane.has_value();
}

bool read_where(std::string_view text, Placed& placed) {
  if (text == "host" || text == "nic") {
    placed.domain = text == "host" ? Domain::host : Domain::nic;
    return true;
  }
  if (!text.starts_with("gpu")) return false;
  placed.domain = Domain::gpu;
  placed.gpu = number(text.substr(3));
  return text == "gpu" || placed.gpu.has_value();
}

Error refused(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

}  // namespace

Result<Placement> placement_of(std::string_view text) {
  Placement placement;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto is = one.find('=');
    if (is == std::string_view::npos)
      return refused(fmt::format("'{}' places nothing: it wants WHO=WHERE, as in 0=gpu0", one));
    Placed placed;
    if (!read_who(one.substr(0, is), placed))
      return refused(
          fmt::format("'{}' in '{}' is no rank or lane: it wants 0, all, or with a lane 0.1, all.1",
                      one.substr(0, is), one));
    if (!read_where(one.substr(is + 1), placed))
      return refused(fmt::format("'{}' in '{}' is no place: there are host, gpu, gpu0, ... and nic",
                                 one.substr(is + 1), one));
    placement.push_back(placed);
  }
  return placement;
}

std::string to_string(const Placement& placement) {
  std::string text;
  for (const Placed& placed : placement)
    text += fmt::format("{}{}{}={}{}", text.empty() ? "" : ",",
                        placed.rank ? std::to_string(*placed.rank) : "all",
                        placed.lane ? "." + std::to_string(*placed.lane) : "",
                        name_of(placed.domain), placed.gpu ? std::to_string(*placed.gpu) : "");
  return text;
}

std::optional<std::string> misplaced(const Placement& placement, std::uint32_t ranks,
                                     std::uint32_t lanes) {
  for (const Placed& placed : placement) {
    if (placed.rank && *placed.rank >= ranks)
      return fmt::format("rank {} of {} does not exist", *placed.rank, ranks);
    if (placed.lane && *placed.lane >= lanes)
      return fmt::format("lane {} of {} does not exist", *placed.lane, lanes);
  }
  for (std::uint32_t rank = 0; rank < ranks && !placement.empty(); ++rank)
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      if (std::none_of(placement.begin(), placement.end(), [&](const Placed& placed) {
            return placed.rank.value_or(rank) == rank && placed.lane.value_or(lane) == lane;
          }))
        return fmt::format("rank {}{} has no place, and others have", rank,
                           lanes > 1 ? fmt::format(" lane {}", lane) : "");
  return std::nullopt;
}

}  // namespace muster::check
