#include <fmt/format.h>
#include <sys/mman.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/call_words.hpp"
#include "fabric/host/cell_watch.hpp"
#include "fabric/host/futex.hpp"
#include "fabric/host/lane_watch.hpp"
#include "muster/fabric/host.hpp"

namespace muster::host {
AnyStatus Fabric::wait_any(const Condition* conditions, std::uint32_t count, Order order, Scope) {
  if (count == 0) {
    reject("wait_any: count is 0; at least one condition is needed");
    return {WaitStatus::invalid, 0};
  }
  std::vector<Awaited> awaited;
  awaited.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Condition& one = conditions[i];
    if (!admits(one.signal, context_.rank)) return {ending(), 0};
    awaited.push_back(
        {one.signal, context_.rank, &cell_of(one.signal, context_.rank), one.compare, one.value});
  }
  const AnyStatus any =
      context_.watch->wait_any(awaited.data(), count, detail::load_order(order), call_);
  return {settle(any.status), any.index};
}

WaitStatus Fabric::wait_slowly(Signal signal, Rank owner, Compare compare, std::uint32_t value,
                               std::memory_order order) {
  return settle(
      context_.watch->wait({signal, owner, &cell_of(signal, owner), compare, value}, order, call_));
}

WaitStatus Fabric::wait_for_line(std::uint32_t& flag, std::int64_t line, std::uint32_t expected) {
  const Signal place{0, static_cast<std::uint32_t>(line)};
  // Pairs with the release of the flag in put_packets.
  return settle(context_.watch->wait({place, context_.rank, &flag, Compare::eq, expected, true},
                                     std::memory_order_acquire, call_));
}

// Until either half of the word is not zero: it is written in one piece.
WaitStatus Fabric::wait_for_word(std::uint64_t& word, std::int64_t line) {
  const Signal place{0, static_cast<std::uint32_t>(line)};
  auto* const halves = reinterpret_cast<std::uint32_t*>(&word);
  const Awaited either[] = {{place, context_.rank, halves, Compare::ne, 0, true},
                            {place, context_.rank, halves + 1, Compare::ne, 0, true}};
  return settle(context_.watch->wait_any(either, 2, std::memory_order_relaxed, call_).status);
}

WaitStatus Fabric::ending() const {
  return context_.watch->ended();
}

// An expired wait has ended the lane with `aborted`: the call that it was part of still says so.
WaitStatus Fabric::with_ending(WaitStatus status) const {
  const WaitStatus ended = ending();
  if (status == WaitStatus::expired && ended == WaitStatus::aborted) return status;
  return worst(status, ended);
}

WaitStatus Fabric::settle(WaitStatus status) {
  if (ending() != WaitStatus::ok) look_at_all();
  return status;
}

void Fabric::clear_packets(Slots slots, std::int64_t at, std::int64_t lines) {
  if (!admits("clear_packets", slots, context_.rank, at, lines)) return;
  const View<PacketLine> own = local(slots);
  for (std::int64_t line = at; line < at + lines; ++line) own[line] = PacketLine{};
}

void Fabric::reject_flag(const char* what) {
  reject(fmt::format("{}: the flag is 0, which cleared slots hold; count from 1", what));
}

WaitStatus Fabric::failure_or_pending() {
  return settle(context_.watch->poll());
}

void Fabric::wake_sleepers(Signal signal, Rank owner) {
  const std::uint32_t who = context_.sleepers[owner.value]->load(std::memory_order_relaxed);
  if ((who & ~RankRecord::watched) != 0) futex_wake(cell_of(signal, owner));
  if ((who & RankRecord::watched) == 0) return;
  const TeamContext& team = context_.watch->team();
  ring(team.header().bells[team.job_rank_of(owner)], signal.cell, team.process().job_rank,
       context_.lane);
}

// Of packets, which nobody watches.
void Fabric::wake_line(std::uint32_t& flag, Rank owner) {
  const std::uint32_t who = context_.sleepers[owner.value]->load(std::memory_order_relaxed);
  if ((who & ~RankRecord::watched) != 0) futex_wake(flag);
}

void Fabric::compare_call(const CallSignature& call) {
  context_.watch->compare(call);
}

void Fabric::reject(std::string what) {
  context_.watch->reject(Error{ErrorCode::invalid_argument, std::move(what)});
  look_at_all();
}

bool Fabric::admits_slowly(Signal signal, Rank peer) {
  if (peer.value >= context_.size) return reject_peer("signal", peer), false;
  if (ending() != WaitStatus::ok) return false;
  if (holds_cell(signal.segment, signal.cell)) return true;
  reject(fmt::format(
      "signal: cell {} of segment {} belongs to no rows or signals of this team (freed, out of "
      "bounds, or another team's)",
      signal.cell, signal.segment));
  return false;
}

// Also of a lane that has ended: it keeps its books, which no peer sees.
bool Fabric::admits_slowly(Counter counter) {
  if (holds_cell(counter.segment, counter.cell)) return true;
  reject(fmt::format(
      "counter: cell {} of segment {} belongs to no rows or signals of this team (freed, out of "
      "bounds, or another team's)",
      counter.cell, counter.segment));
  return false;
}

bool Fabric::holds_cell(std::uint32_t segment, std::uint32_t cell) {
  return segment == 0 &&
         context_.watch->team().holding(Allocation::Kind::cells, cell, 1) != nullptr;
}

bool Fabric::knows(const char* what, const UntypedWindow& window) {
  context_.watch->refuse_sealed();
  if (context_.watch->rejected()) return false;  // what it would move could pass for a right call
  const std::string wrong = context_.watch->team().objection_to(window);
  if (wrong.empty()) return true;
  reject(fmt::format("{}: the window of {} x {} {} at offset {} of segment {} {}", what,
                     window.rows, window.cols, name_of_element(window.element), window.offset,
                     window.segment, wrong));
  return false;
}

std::byte* Fabric::nowhere(std::uint64_t bytes) {
  static std::mutex lock;
  static std::byte* memory = nullptr;
  static std::uint64_t length = 0;
  const std::lock_guard guard(lock);
  if (bytes > length || memory == nullptr) {
    // Views of the shorter one may still be about, so it stays.
    void* mapped = mmap(nullptr, bytes == 0 ? 1 : bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    madvise(mapped, bytes, MADV_DONTDUMP);
    memory = static_cast<std::byte*>(mapped);
    length = bytes;
  }
  return memory;
}

void Fabric::reject_peer(const char* what, Rank peer) {
  reject(fmt::format("{}: peer is rank {}; this team has ranks 0 to {}", what, peer.value,
                     context_.size - 1));
}

void Fabric::reject_box(const char* what, std::int64_t window_rows, std::int64_t window_cols,
                        Box box, std::int64_t rows, std::int64_t cols) {
  reject(fmt::format(
      "{}: box of {} x {} elements at ({}, {}); it must lie inside the {} x {} that are there and "
      "be "
      "at most the tile's {} x {} (extents are elements, not bytes)",
      what, box.rows, box.cols, box.row, box.col, window_rows, window_cols, rows, cols));
}

void Fabric::reject_run(const char* what, std::int64_t size, std::int64_t at, std::int64_t count) {
  reject(fmt::format(
      "{}: {} elements at {}; the window has {} (positions and counts are elements, not bytes)",
      what, count, at, size));
}

void Fabric::reject_overlap(std::int64_t to_at, std::int64_t from_at, std::int64_t count) {
  reject(
      fmt::format("transfer within a rank: source and target overlap ({} elements from {} "
                  "to {}); they must be apart",
                  count, from_at, to_at));
}

}  // namespace muster::host
