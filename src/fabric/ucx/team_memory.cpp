// The memory of a team: every rank keeps the same books, so that a place has one name on all.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fabric/ucx/team_core.hpp"

namespace muster::ucx {
namespace {

constexpr std::uint64_t line = 64;
// A segment costs each rank a key of every other, and an exchange: small windows share one.
constexpr std::uint64_t least_chunk = std::uint64_t{1} << 20U;

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

// Where `bytes` are free in the chunk, the lowest such place.
std::optional<std::uint64_t> TeamCore::room_in(const Chunk& chunk, std::uint64_t bytes) const {
  std::vector<const Range*> taken;
  for (const Range& range : ranges_)
    if (range.segment == chunk.segment) taken.push_back(&range);
  std::ranges::sort(taken, {}, [](const Range* range) { return range->offset; });
  std::uint64_t at = 0;
  for (const Range* range : taken) {
    if (range->offset - at >= bytes) return at;
    at = range->offset + range->bytes;
  }
  if (chunk.bytes - at < bytes) return std::nullopt;
  return at;
}

std::optional<Error> TeamCore::add_chunk(std::uint64_t bytes, bool cells, const std::string& what,
                                         std::string& card) {
  Segments& segments = network_->segments();
  const std::uint32_t segment = segments.add(bytes, number_, cells, network_->size());
  if (segment == max_segments)
    return Error{ErrorCode::out_of_memory,
                 fmt::format("{} asks for {} bytes on each rank, and UCX has no memory for them "
                             "(extents are elements, not bytes)",
                             what, bytes)};
  chunks_.push_back({segment, bytes, cells});
  const auto address = reinterpret_cast<std::uint64_t>(segments.at(segment).memory);
  card.assign(reinterpret_cast<const char*>(&address), sizeof address);
  card += segments.packed_key(segment);
  return std::nullopt;
}

std::optional<Error> TeamCore::learn_chunk(const std::vector<std::string>& cards) {
  SegmentMemory& memory = network_->segments().memory(chunks_.back().segment);
  for (std::uint32_t rank = 0; rank < cards.size(); ++rank) {
    RemotePart part;
    if (cards[rank].size() <= sizeof part.address)
      return Error{ErrorCode::system, fmt::format("rank {} has no key to its memory", rank),
                   state_->rank()};
    std::memcpy(&part.address, cards[rank].data(), sizeof part.address);
    part.packed_key = cards[rank].substr(sizeof part.address);
    memory.parts[state_->job_rank_of(Rank{rank})] = std::move(part);
  }
  return std::nullopt;
}

Result<Range> TeamCore::allocate(std::uint64_t bytes, bool cells, std::uint32_t row_lanes,
                                 const std::string& name, const std::string& what,
                                 std::optional<Error> local) {
  if (auto error = lanes_run(what)) return *error;
  if (auto error = refusal()) return *error;
  const std::uint64_t length = rounded(std::max<std::uint64_t>(bytes, 1), line);
  std::optional<Range> made;
  std::string card;
  if (!local) {
    for (const Chunk& chunk : chunks_) {
      if (made || chunk.cells != cells) continue;
      if (const auto at = room_in(chunk, length))
        made = Range{chunk.segment, *at, length, row_lanes, name};
    }
    if (!made &&
        !(local = add_chunk(std::max(least_chunk, rounded(length, 4096)), cells, what, card)))
      made = Range{chunks_.back().segment, 0, length, row_lanes, name};
  }
  // Zero before anybody returns, so before any peer writes there; what was freed is nobody's, for
  // free is a barrier.
  if (made && card.empty())
    std::memset(network_->segments().at(made->segment).memory + made->offset, 0, length);
  const auto cards = agree(what, card, local);
  std::optional<Error> failed;
  if (!cards)
    failed = cards.error();
  else if (!card.empty())
    failed = learn_chunk(*cards);
  if (!failed) {
    ranges_.push_back(*made);
    return *made;
  }
  if (!card.empty() && state_->status() == WaitStatus::ok) {
    // All have failed alike, so nobody has the key.
    network_->segments().remove(chunks_.back().segment);
    chunks_.pop_back();
  }
  return *failed;
}

Result<void> TeamCore::release(std::uint32_t segment, std::uint64_t offset, bool cells) {
  const Range* const found = find(segment, offset);
  std::optional<Error> local;
  if (found == nullptr)
    local = Error{ErrorCode::invalid_argument,
                  fmt::format("free: there are no {} of this team at offset {} of segment {} "
                              "(freed, another team's, or never made)",
                              cells ? "signals" : "bytes", offset, segment)};
  const auto agreed =
      agree(fmt::format("free of {} at {}", cells ? "cells" : "memory", offset), {}, local);
  if (!agreed) return agreed.error();
  ranges_.erase(ranges_.begin() + (found - ranges_.data()));
  return {};
}

const Range* TeamCore::find(std::uint32_t segment, std::uint64_t offset) const {
  const auto found = std::ranges::find_if(ranges_, [&](const Range& range) {
    return range.segment == segment && range.offset == offset;
  });
  return found == ranges_.end() ? nullptr : &*found;
}

bool TeamCore::is_taken(std::string_view name) const {
  return !name.empty() &&
         std::ranges::any_of(ranges_, [&](const Range& range) { return range.name == name; });
}

std::optional<Rank> TeamCore::writer_of(Signal signal) const {
  const std::uint64_t at = std::uint64_t{signal.cell} * cell_stride;
  for (const Range& range : ranges_) {
    if (range.segment != signal.segment || at < range.offset || at >= range.offset + range.bytes)
      continue;
    const std::uint64_t cell = (at - range.offset) / cell_stride;
    if (range.row_lanes == 0 || cell >= std::uint64_t{range.row_lanes} * state_->size())
      return std::nullopt;
    return Rank{static_cast<std::uint32_t>(cell % state_->size())};
  }
  return std::nullopt;
}

}  // namespace muster::ucx
