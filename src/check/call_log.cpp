#include "check/call_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/call_words.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

std::optional<std::string> DescribedCalls::mismatch(std::uint32_t lane, std::uint32_t thread,
                                                    std::uint32_t number, const Call& call) {
  const Call& first = first_.try_emplace({lane, thread, number}, call).first->second;
  if (agree(first.signature, call.signature)) return std::nullopt;
  return fmt::format("rank {} calls {} ({}), rank {} {} ({}), each as call {} on lane {}",
                     first.rank, to_string(first.signature), short_place(first.where), call.rank,
                     to_string(call.signature), short_place(call.where), number, lane);
}

bool SetupCalls::come(std::uint32_t number, const std::string& what,
                      const std::function<std::uint32_t()>& make) {
  if (number == calls_.size()) calls_.push_back({what, make ? make() : 0, 0});
  if (calls_[number].what != what) return false;
  ++calls_[number].arrived;
  return true;
}

std::string Launches::difference() const {
  for (std::uint32_t rank = 1; rank < of_rank_.size(); ++rank) {
    const auto& first = of_rank_[0];
    const auto& other = of_rank_[rank];
    for (std::size_t at = 0; at < std::min(first.size(), other.size()); ++at)
      if (first[at].lanes != other[at].lanes)
        return fmt::format("rank 0 runs {} lanes ({}) where rank {} runs {} ({})", first[at].lanes,
                           short_place(first[at].where), rank, other[at].lanes,
                           short_place(other[at].where));
  }
  return "";
}

std::vector<std::uint32_t> BarrierEntries::heard(std::uint32_t barrier, std::uint32_t call,
                                                 const Clock& past, std::uint32_t ranks,
                                                 std::uint32_t lanes) const {
  std::vector<std::uint32_t> heard(static_cast<std::size_t>(ranks) * lanes, 0);
  const auto entered = entries_.find(key(barrier, call));
  if (entered == entries_.end()) return heard;
  for (const Entry& entry : entered->second)
    if (past.has(entry.stamp) && entry.lane < lanes) ++heard[entry.rank * lanes + entry.lane];
  return heard;
}

std::size_t BarrierEntries::step_of(std::uint32_t barrier, std::uint32_t call, std::uint32_t rank,
                                    std::uint32_t lane) const {
  const auto there = entries_.find(key(barrier, call));
  if (there == entries_.end()) return Trace::none;
  for (const Entry& entry : there->second)
    if (entry.rank == rank && entry.lane == lane) return entry.step;
  return Trace::none;
}

}  // namespace muster::check::engine
