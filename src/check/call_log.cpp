#include "check/call_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
bool same(const CallSignature& a, const CallSignature& b) {
  const auto others = [](const CallSignature& call) {
    const TransferShape& m = call.shape;
    return std::tuple(m.rows, m.cols, m.chunk_rows, m.chunk_cols, m.element, call.lanes);
  };
  return std::strcmp(a.name, b.name) == 0 && a.detail[0] == b.detail[0] &&
         a.detail[1] == b.detail[1] && others(a) == others(b);
}

std::string text_of(const CallSignature& call) {
  std::string text = call.name;
  if (call.lanes != 0) text += fmt::format(" of {} lanes", call.lanes);
  if (call.detail[0] != CallSignature::no_cell)
    text += call.number == 0 ? fmt::format(" (cell {})", call.detail[0])
                             : fmt::format(" (cell {}, its call {})", call.detail[0], call.number);
  if (call.shape.rows != 0)
    text += fmt::format(" of {} x {} elements of {} bytes", call.shape.rows, call.shape.cols,
                        call.shape.element & 0xffffffffU);
  return text;
}
}  // namespace

std::optional<std::string> DescribedCalls::mismatch(std::uint32_t lane, std::uint32_t thread,
                                                    std::uint32_t number, const Call& call) {
  const Call& first = first_.try_emplace({lane, thread, number}, call).first->second;
  if (same(first.signature, call.signature)) return std::nullopt;
  return fmt::format("rank {} calls {} ({}), rank {} {} ({}), each as call {} on lane {}",
                     first.rank, text_of(first.signature), short_place(first.where), call.rank,
                     text_of(call.signature), short_place(call.where), number, lane);
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
