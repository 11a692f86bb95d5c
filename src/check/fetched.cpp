// Operations that read a cell and write it in one: fetched ones, hand and take.
#include <fmt/format.h>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/signal_words.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

Fetched Execution::fetch(Thread& self, const Fetch& fetch, Signal signal, Rank peer, Order order,
                         Where where) {
  self.read.fetch = fetch;
  const Condition found = {signal, Compare::eq, fetch.expected};
  const WaitStatus status = read_signal(self, ReadKind::fetch, &found, 1, peer, order, where);
  return {status, status == WaitStatus::ok ? self.read.value : 0};
}

// The write of an operation that reads and writes, if it does: the two are one, nothing comes
// between them in any reader's chain.
void Execution::write_back(Thread& thread, const Bits& found, std::uint32_t value) {
  const PendingRead& read = thread.read;
  const bool flips = read.kind == ReadKind::hand || read.kind == ReadKind::take;
  const bool fetches = read.kind == ReadKind::fetch;
  if (!fetches && !flips) return;
  const std::uint32_t index = read.looks[read.index].cell;
  Cell& cell = cells_[index];
  if (fetches && read.fetch.leaves(value)) {
    const bool fails = read.fetch.kind == Fetch::Kind::compare_swap && value != read.fetch.expected;
    return fails ? void() : write_idly(thread, cell, found);
  }
  Bits both = found;
  both.add(cell.count);
  if (flips) {
    const std::uint32_t mark = read.kind == ReadKind::hand ? 1U : ~0U;
    deposit(thread, index, mark, NotifyOp::add, read.order, {&found, false, {}}, read.where);
  } else {
    const NotifyOp op = read.fetch.kind == Fetch::Kind::add ? NotifyOp::add : NotifyOp::set;
    deposit(thread, index, read.fetch.operand, op, read.order, {&found, false, read.fetch.kind},
            read.where);
  }
  if (fetches && mutant("fetch-in-two-steps")) return;
  cell.readings.push_back({thread.id, thread.epoch() - 1, both, thread.scope, read.where});
}

namespace {
constexpr const char* by_fetched_alone =
    "beside fetched operations write by add, or by fetched operations alone";
}

// It carries nothing, but it writes: a set that came in between would be lost on some fabrics.
void Execution::write_idly(Thread& thread, Cell& cell, const Bits& found) {
  const PendingRead& read = thread.read;
  for (std::uint32_t at = 0; at < cell.count; ++at) {
    const Deposit& other = cell.deposits[at];
    const bool sets = other.flips || (other.op == NotifyOp::set && !other.fetched);
    if (!sets || found.has(at) || mutant("idle-fetch-beside-a-set")) continue;
    return this->found(
        thread, Kind::clobber,
        fmt::format("{} makes a {} of {} ({}) while {} sets it ({}), unordered",
                    name_of_thread(thread), word(read.kind, read.fetch), name_of_cell(cell),
                    short_place(read.where), name_of_thread(threads_[other.thread]),
                    short_place(other.where)),
        by_fetched_alone, name_of_cell(cell), &other.cause,
        {edge(threads_[other.thread].rank, other.step, thread)});
  }
  check_domain(thread, cell, found);
  cell.idle_writes.push_back({thread.stamp(), thread.cause, read.where});
}

void Execution::check_idle_writes(Thread& self, const Cell& cell, const Deposit& set) {
  if (set.fetched || (set.op == NotifyOp::add && !set.flips)) return;
  for (const IdleWrite& idle : cell.idle_writes) {
    if (self.hb.has(idle.stamp) || mutant("idle-fetch-beside-a-set")) continue;
    return found(
        self, Kind::clobber,
        fmt::format("{} {}s {} ({}) while {} makes a fetched operation on it ({}), unordered",
                    name_of_thread(self), word(set), name_of_cell(cell), short_place(set.where),
                    name_of_thread(threads_[idle.stamp.component]), short_place(idle.where)),
        by_fetched_alone, name_of_cell(cell), &idle.cause);
  }
}

}  // namespace muster::check::engine
