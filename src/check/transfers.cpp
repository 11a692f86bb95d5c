// Window data: own loads and stores, transfers, flush.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "check/execution.hpp"
#include "check/mutant.hpp"

namespace muster::check::engine {

using model::Access;
using model::Span;

void Execution::access(Thread& self, std::uint32_t rank, Span span, Access access, Stamp stamp,
                       const char* how, bool cached) {
  Segment& segment = windows_[span.segment];
  has_substance_ = true;
  with(self, {rank, span.segment, span.offset, static_cast<std::uint64_t>(span.count),
              static_cast<std::uint64_t>(access)});
  const std::uint64_t first = span.offset / segment.grain;
  const std::uint64_t bytes = static_cast<std::uint64_t>(span.count) * span.element;
  const std::uint64_t last = (span.offset + bytes + segment.grain - 1) / segment.grain;
  if (segment.freed && segment.freed_at[rank].epoch > 0)
    found(self, Kind::race,
          fmt::format("{} uses {} of rank {} after it was freed", name_of_thread(self),
                      segment.name, rank),
          "freeing: flush, then a barrier of the team", segment.name);
  std::vector<Shadow>& shadows = segment.shadows[rank];
  share(self, shadows, segment.grain, {first, last});
  if (stamp.component == clocks_.loads_of(self)) self.loading = true;
  const auto place = [&](std::uint64_t grain) {
    return windows_.location(span.segment, grain, rank);
  };
  const History::Touch touch{.stamp = stamp,
                             .rank = rank,
                             .segment = span.segment,
                             .first = first,
                             .last = last,
                             .access = access};
  if (has_caches()) check_caches(self, shadows, touch, segment.grain, cached, place);
  record_access(self, shadows, touch, {self.hb, self.ended, clocks_.loads_of(self), places_.any()},
                place, how);
  for (std::uint64_t at = first; access == Access::write && at < last; ++at)
    shadows[at].cached = cached;
}

// Threads that share a line of a cache have to do with each other as those that share an element.
void Execution::share(const Thread& self, std::vector<Shadow>& shadows, std::uint64_t bytes,
                      Grains touched) {
  if (self.is_setup) return;
  if (has_caches()) touched = lines_around(touched, bytes);
  for (std::uint64_t at = touched.first; at < touched.last && at < shadows.size(); ++at)
    groups_.touch(shadows[at].toucher, self.id);
}

void* Execution::touch(Thread& self, Rank rank, Span span, Access how, Where where) {
  self.where = where;
  check_sealed(self, where);
  did(self, how == Access::read ? "read" : "write", where);
  count_step(self, "access");
  if (how == Access::read)
    look(self, (span.offset << 20U) ^ (std::uint64_t{span.segment} << 10U) ^ rank.value, where);
  else
    changes(self);
  if (scratch_.size() < span.element) scratch_.resize(span.element);
  if (span.count < 1 || fibers_.unwinding()) return scratch_.data();
  if (rank.value >= options_.ranks || !windows_.has(span.segment)) {
    contract(self, false, "a window that does not exist is used", self.where);
    return scratch_.data();
  }
  if (tracing())
    note(self, self.where,
         fmt::format("{} {}", how == Access::read ? "read" : "write",
                     windows_.location(span, rank.value)));
  access(self, rank.value, span, how, how == Access::read ? clocks_.load_of(self) : self.stamp(),
         "");
  return windows_.bytes(rank.value, span);
}

// An element of a tile operation. A store or add to another rank is an agent of its channel; one
// agent for each element is as good as one for all, since nothing can tell them apart.
void* Execution::move_element(Thread& self, Span span, Rank peer, Access how, bool remote) {
  steps_.count_element();
  const bool agent = remote && peer.value != self.rank && how != Access::read &&
                     options_.profile == Profile::rdma && !mutant("remote-store-at-issue");
  const Stamp stamp = agent                 ? clocks_.next_on_channel(self, peer.value)
                      : how == Access::read ? clocks_.load_of(self)
                                            : self.stamp();
  const bool cached =
      how == Access::read || (how == Access::write && peer.value == self.rank) || !remote;
  access(self, peer.value, span, how, stamp, agent ? " by a transfer" : "", cached);
  if (agent) trace_.flies(self.id, stamp);
  if (peer.value != self.rank) costs_[self.rank].bytes += span.element;
  return windows_.bytes(peer.value, span);
}

namespace {
// The elements that thread `index` of `threads` moves.
template <class Visit>
void each_share(Span to, Span from, std::uint32_t index, std::uint32_t threads, Visit&& visit) {
  if (threads == 1) return visit(to, from);
  for (std::int64_t at = index; at < to.count; at += threads) {
    const std::uint64_t skip = static_cast<std::uint64_t>(at) * to.element;
    visit(Span{to.segment, to.offset + skip, 1, to.element},
          Span{from.segment, from.offset + skip, 1, from.element});
  }
}
}  // namespace

void Execution::copy(std::uint32_t to_rank, Span to, std::uint32_t from_rank, Span from) {
  if (to_rank != from_rank)
    costs_[running()->rank].bytes += static_cast<std::uint64_t>(to.count) * to.element;
  std::memmove(windows_.bytes(to_rank, to), windows_.bytes(from_rank, from),
               static_cast<std::size_t>(to.count) * to.element);
}

// What a real fabric refuses: memory copied onto itself.
bool Execution::check_overlap(Thread& self, Span to, Rank to_rank, Span from, Rank from_rank,
                              Where where) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(to.count) * to.element;
  const bool overlaps = to.segment == from.segment && to_rank == from_rank &&
                        to.offset < from.offset + bytes && from.offset < to.offset + bytes;
  return contract(self, !overlaps, "source and target of a transfer overlap", where);
}

// The lane meets before, so that what its threads wrote is sent, and after, so that all may go on
// with what was moved. The async forms leave that to flush.
void Execution::put(Thread& self, Span to, Rank peer, Span from, bool async, Where where) {
  step(self, "put", where);
  change_before(self, "put", where);
  if (to.count < 0 || from.count < 0 || fibers_.unwinding()) return;
  if (!check_rank(self, peer, where) ||
      !check_overlap(self, to, peer, from, Rank{self.rank}, where))
    return;
  if (!async) meet_at(self, "put");
  if (tracing() && to.count > 0)
    note(self, where,
         fmt::format("put{} {} elements to {}", async ? "_async" : "", to.count,
                     windows_.location(to, peer.value)));
  if (to.count > 0) move_share(self, to, peer, from, async);
  if (!async) meet_at(self, "put");
}

// What is put to another rank is in flight on rdma, what is put_async everywhere but on sc. To the
// own rank a put is a store.
void Execution::move_share(Thread& self, Span to, Rank peer, Span from, bool async) {
  const bool network = options_.profile == Profile::rdma && !mutant("put-at-issue");
  const bool flies = async && (network || (transfers_at_once() && !mutant("put-async-at-issue")));
  const bool channel =
      network && !async && (peer.value != self.rank || mutant("own-put-in-flight"));
  const Stamp read = flies ? clocks_.new_agent(self, peer.value, true, true) : self.stamp();
  const Stamp written{read.component, 2};
  changes(self);
  each_share(to, from, self.place(), self.together.count, [&](Span share_to, Span share_from) {
    const Stamp stamp = flies     ? written
                        : channel ? clocks_.next_on_channel(self, peer.value)
                                  : self.stamp();
    access(self, self.rank, share_from, Access::read,
           mutant("put-async-source-at-issue") ? self.stamp() : read, " as the source of a put");
    access(self, peer.value, share_to, Access::write, stamp, " by a put",
           peer.value == self.rank && !flies);
    copy(peer.value, share_to, self.rank, share_from);
    if (flies || channel) trace_.flies(self.id, stamp);
  });
}

void Execution::get(Thread& self, Span to, Span from, Rank peer, bool async, Where where) {
  step(self, "get", where);
  change_before(self, "get", where);
  if (to.count < 0 || from.count < 0 || fibers_.unwinding()) return;
  if (!check_rank(self, peer, where) ||
      !check_overlap(self, to, Rank{self.rank}, from, peer, where))
    return;
  const bool agent = async && options_.profile != Profile::sc && !mutant("get-async-at-issue");
  if (!async) meet_at(self, "get");
  if (tracing() && to.count > 0)
    note(self, where,
         fmt::format("get{} {} elements from {}", async ? "_async" : "", to.count,
                     windows_.location(from, peer.value)));
  const Stamp stamp = agent ? clocks_.new_agent(self, peer.value, false, true) : self.stamp();
  look(self, (from.offset << 20U) ^ (std::uint64_t{from.segment} << 10U) ^ peer.value, where);
  each_share(to, from, self.place(), self.together.count, [&](Span share_to, Span share_from) {
    if (share_to.count == 0) return;
    access(self, peer.value, share_from, Access::read, stamp, " by a get");
    access(self, self.rank, share_to, Access::write, stamp, " as the target of a get", !agent);
    copy(self.rank, share_to, peer.value, share_from);
    if (agent) trace_.flies(self.id, stamp);
  });
  if (!async) meet_at(self, "get");
}

void Execution::put_signal(Thread& self, Span to, Rank peer, Span from, Signal signal,
                           std::uint32_t value, NotifyOp op, Where where) {
  step(self, "put_signal", where);
  change_before(self, "put_signal", where);
  if (to.count < 0 || from.count < 0 || fibers_.unwinding()) return;
  if (!check_cell(self, signal, peer, where) ||
      !check_overlap(self, to, peer, from, Rank{self.rank}, where))
    return;
  // The lane moves the payload together, one thread signals; here that thread does both.
  meet_at(self, "put_signal");
  if (self.leads()) {
    if (tracing())
      note(self, where,
           fmt::format("put_signal {} elements to {}, then {}: {} {}", to.count,
                       windows_.location(to, peer.value),
                       name_of_cell(cells_.at(peer.value, signal.cell)),
                       op == NotifyOp::set ? "set" : "add", static_cast<std::int32_t>(value)));
    send_with_signal(self, to, peer, from, {signal, Compare::ge, value}, op, where);
  }
  meet_at(self, "put_signal");
}

void Execution::send_with_signal(Thread& self, Span to, Rank peer, Span from,
                                 const Condition& signal, NotifyOp op, Where where) {
  const bool agent = options_.profile != Profile::sc && !mutant("put-signal-is-a-notify");
  const Stamp stamp =
      agent ? clocks_.new_agent(self, peer.value, !mutant("put-signal-not-carried")) : self.stamp();
  if (to.count > 0) {
    access(self, self.rank, from, Access::read, self.stamp(), " as the source of a put");
    access(self, peer.value, to, Access::write, stamp, " by a put", false);
    copy(peer.value, to, self.rank, from);
  }
  const std::uint32_t cell = cells_.index(peer.value, signal.signal.cell);
  const Deposit& made =
      deposit(self, cell, signal.value, op, Order::release, {nullptr, agent, {}}, where);
  check_take_back(self, cells_[cell], made);
  if (!agent) return;
  // On direct it has taken effect, and its thread knows; what it wrote to its own rank it knows.
  Clock done;
  if (transfers_at_once())
    done.raise(clocks_.last_agent(2));
  else
    trace_.flies(self.id, clocks_.last_agent(2));
  if (peer.value == self.rank) done.raise(clocks_.last_agent(1));
  self.learn(done);
}

// The lane meets twice: each thread completes its own share, and then all know of all.
void Execution::complete(Thread& self, Rank peer, std::uint32_t begun, Where where) {
  step(self, "complete", where);
  if (tracing()) note(self, where, "complete");
  meet_at(self, "complete");
  if (!mutant("complete-does-nothing")) self.learn(clocks_.completed_of(self, peer.value, begun));
  trace_.learned(self.id, self.hb);
  meet_at(self, "complete");
}

// The transfers and notifies of the own lane are done: to one peer, or to all.
void Execution::flush(Thread& self, std::optional<Rank> peer, Where where) {
  step(self, "flush", where);
  if (peer && !check_rank(self, *peer, where)) return;
  sites_.come_to("flush", where);
  if (sites_.has("flush", where, Change::drop)) return;
  if (tracing()) note(self, where, peer ? fmt::format("flush to {}", peer->value) : "flush");
  if (self.leads()) ++costs_[self.rank].flushes;
  meet_at(self, "flush");
  finish_transfers(self, mutant("flush-of-a-peer-is-of-all") ? std::nullopt : peer);
}

void Execution::finish_transfers(Thread& self, std::optional<Rank> peer) {
  self.learn(clocks_.done_of(self, self.together, peer));
  trace_.learned(self.id, self.hb);
}

std::uint32_t Execution::counter(Thread& self, Counter counter, Where where) {
  step(self, "counter", where);
  const auto at = find_counter(self, counter, where);
  if (!at) return 0;
  look(self, *at, where);
  check_counter(self, *at, Access::read);
  with(self, {*at, counters_[*at]});
  return counters_[*at];
}

void Execution::set_counter(Thread& self, Counter counter, std::uint32_t value, Where where) {
  step(self, "set_counter", where);
  const auto at = find_counter(self, counter, where);
  if (!at) return;
  check_counter(self, *at, Access::write);
  with(self, {*at, value});
  changes(self);
  counters_[*at] = value;
}

std::optional<std::size_t> Execution::find_counter(Thread& self, Counter counter, Where where) {
  const auto at = counters_.find(counter, self.rank);
  if (!at)
    contract(self, false,
             fmt::format("counter {} does not exist ({} have been made)", counter.cell,
                         counters_.numbers()),
             where);
  return at;
}

void Execution::check_counter(Thread& self, std::size_t at, Access how) {
  if (tracing())
    note(self, self.where,
         fmt::format("{} counter {}", how == Access::read ? "read" : "write",
                     counters_.number_of(at)));
  const bool reads = how == Access::read;
  if (reads) self.loading = true;
  const Stamp stamp = reads ? clocks_.load_of(self) : self.stamp();
  const auto place = [&](std::uint64_t element) {
    return fmt::format("counter[{}] of rank {}", counters_.number_of(element), self.rank);
  };
  const History::Touch touch{.stamp = stamp,
                             .rank = self.rank,
                             .segment = ~0U,
                             .first = at,
                             .last = at + 1,
                             .access = how};
  constexpr std::uint64_t a_line = 64;  // each counter has one of its own
  if (has_caches()) check_caches(self, counters_.shadows(), touch, a_line, true, place);
  record_access(self, counters_.shadows(), touch, {self.hb, self.ended, clocks_.loads_of(self)},
                place, "");
  if (!reads) counters_.shadows()[at].cached = true;
}

}  // namespace muster::check::engine
