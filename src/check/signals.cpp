// Deposits and the reads that take them.
#include <fmt/format.h>

#include <algorithm>

#include "base/compare.hpp"
#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/signal_words.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
// Atomic towards others that are, and in any order with them: 7 of the contract.
bool are_atomic(const Deposit& a, const Deposit& b) {
  const bool both_add = a.op == NotifyOp::add && b.op == NotifyOp::add;
  if (!a.fetched && !b.fetched) return both_add && !mutant("adds-clobber");
  const auto adds = [](const Deposit& d) { return d.op == NotifyOp::add && !d.flips; };
  return ((a.fetched || adds(a)) && (b.fetched || adds(b))) || mutant("fetched-beside-a-set");
}
}  // namespace

bool Execution::check_rank(Thread& self, Rank rank, Where where) {
  if (rank.value < options_.ranks) return true;
  return contract(self, false,
                  fmt::format("rank {} of {} does not exist", rank.value, options_.ranks), where);
}

bool Execution::check_cell(Thread& self, Signal signal, Rank owner, Where where) {
  if (!check_rank(self, owner, where)) return false;
  if (signal.segment != 0 || signal.cell >= cells_.numbers())
    return contract(
        self, false,
        fmt::format("signal {} does not exist ({} have been made)", signal.cell, cells_.numbers()),
        where);
  const Cell& cell = cells_.at(owner.value, signal.cell);
  if (!cell.live)
    found(self, Kind::race,
          fmt::format("{} uses {} after it was freed", name_of_thread(self), name_of_cell(cell)),
          "freeing: flush, then a barrier of the team", name_of_cell(cell));
  return cell.live;
}

// A later launch of a rank knows what all its lanes knew in the earlier ones, and a signal from
// there tells it to other ranks' lanes of any group.
void Execution::share(const Thread& self, Cell& cell) {
  if (launches_.count(self.rank) > 1) groups_.merge_all();
  groups_.touch(cell.toucher, self.id);
}

Deposit& Execution::deposit(Thread& self, std::uint32_t index, std::uint32_t value, NotifyOp op,
                            Order order, const Maker& maker, Where where) {
  Cell& cell = cells_[index];
  share(self, cell);
  const bool remote = options_.profile == Profile::rdma && cell.rank != self.rank &&
                      !mutant("notify-known-at-issue");
  const Bits* const found = maker.found;
  Bits before = cell.known(self.hb, maker.agent ? nullptr : &self.issued, self.together);
  if (found != nullptr) before.add(*found);
  Deposit& made = cell.append();
  made.thread = self.id;
  made.value = value;
  made.op = op;
  made.order = order;
  made.scope = self.scope;
  made.own_agent = maker.agent;
  made.fetched = maker.fetched;
  made.flips = found != nullptr && !made.fetched;
  if (made.flips) cell.flipped = true;
  if (made.fetched && op == NotifyOp::set) cell.exchanged = true;
  made.before = std::move(before);
  made.call = self.call;
  const bool own = cell.rank == self.rank;
  made.depth = self.depth + (own && found != nullptr ? 0 : 1);  // a take is no step of its own
  ++(own ? costs_[self.rank].own_notifies : costs_[self.rank].notifies);
  made.where = where;
  made.step = trace_.last_of(self.id);
  made.cause = self.cause;
  made.ended = self.ended;
  made.behind.clear();
  if (maker.behind != nullptr) made.behind = *maker.behind;
  const bool releases =
      (order == Order::release || order == Order::acq_rel || mutant("relaxed-notify-carries")) &&
      !mutant("release-carries-nothing");
  if (maker.agent) {
    made.stamp = clocks_.last_agent(2);
    made.view.clear();
    made.view.raise(made.stamp);
    if (mutant("put-signal-carries-everything")) made.view.join(self.hb);
  } else {
    // A hand has its answer: it has taken effect, as a notify to the own rank has.
    made.stamp =
        remote && found == nullptr ? clocks_.next_on_channel(self, cell.rank) : self.stamp();
    made.view = releases ? self.hb : self.fence;
    const LaneThreads carries =
        mutant("part-carries-the-lane") ? threads_.of_rank(self) : threads_.carrying_for(self);
    if (releases) made.view.join(clocks_.carried_to(self, carries, cell.rank));
    if (releases || mutant("loads-end-at-once")) made.ended = clocks_.ended_with_loads(self);
  }
  write_back_caches(self, made, releases);
  made.cause.join(made.view);
  if (mutant("relaxed-notify-without-cause") && order == Order::relaxed) {
    made.cause.clear();
    made.ended.clear();
  }
  made.ended.join(made.view);
  if (op == NotifyOp::set) cell.sets.add(cell.count - 1);
  changes(self);
  with(self, {index, value, static_cast<std::uint64_t>(op), static_cast<std::uint64_t>(order)});
  if (record_.is_kept()) record_.deposited(index, self.id);
  check_clobber(self, cell, made);
  check_scope(self, cell, made);
  check_domain(self, cell, made);
  check_stale_update(self, cell, made);
  check_idle_writes(self, cell, made);
  classify(cell, made);
  if (options_.profile == Profile::sc)
    one_order_.add_deposit(index, cell.count - 1, self.stamp(), self.cause);
  self.tick();
  if (strategy_ != nullptr) strategy_->deposited(*this, index);
  return made;
}

void Execution::check_clobber(Thread& self, const Cell& cell, const Deposit& made) {
  if (mutant("clobber-unseen")) return;
  const std::uint32_t last = cell.count - 1;
  for (std::uint32_t at = 0; at < last; ++at) {
    const Deposit& other = cell.deposits[at];
    // A hand or take is a look and then a store: something fetched may come between the two.
    const bool apart = (made.flips && other.fetched) || (made.fetched && other.flips);
    const Bits& before = apart ? self.read.looks[self.read.index].must : made.before;
    if (before.has(at) || are_atomic(made, other)) continue;
    found(self, Kind::clobber,
          fmt::format("{} {}s {} {} ({}) while {} {}s it too ({}), unordered", name_of_thread(self),
                      word(made), name_of_cell(cell), static_cast<std::int32_t>(made.value),
                      short_place(made.where), name_of_thread(threads_[other.thread]), word(other),
                      short_place(other.where)),
          made.fetched || other.fetched
              ? "beside fetched operations write by add, or by fetched operations alone"
              : "the later of the two writers must have awaited a deposit that the other made "
                "after its own, or both must add",
          name_of_cell(cell), &other.cause, {edge(threads_[other.thread].rank, other.step, self)});
    return;
  }
}

// Does the cell stay one where reading more only helps? Growing sets in order, each carrying what
// the last one carried, and adds, of which only the one reader's own take back.
void Execution::classify(Cell& cell, const Deposit& made) {
  const auto value = static_cast<std::int32_t>(made.value);
  if (made.op == NotifyOp::add && value < 0) {
    if (made.stamp.component != made.thread) sensitivity_.mark(cell);
    for (const std::uint32_t reader : cell.readers)
      if (reader != made.thread) sensitivity_.mark(cell);
  }
  if (cell.sets.empty() || cell.count < 2) {
    if (made.op == NotifyOp::set && value < 0) sensitivity_.mark(cell);
    return;
  }
  const Deposit& last = cell.deposits[cell.count - 2];
  const bool ordered = made.before.count() == cell.count - 1;
  const std::int32_t grows = made.op == NotifyOp::add
                                 ? value
                                 : static_cast<std::int32_t>(made.value - cell.value(made.before));
  if (!ordered || grows < 0 || !made.view.covers(last.view) || !made.cause.covers(last.cause) ||
      !made.ended.covers(last.ended) || !made.back.covers(last.back))
    sensitivity_.mark(cell);
}

void Execution::notify(Thread& self, Signal signal, Rank peer, std::uint32_t value, NotifyOp op,
                       Order order, Where where) {
  step(self, "notify", where);
  change_before(self, "notify", where);
  order = sites_.order_of("notify", order, where);
  self.scope = sites_.scope_of("notify", self.scope, where);
  if (sites_.has("notify", where, Change::drop)) return;
  if (!check_cell(self, signal, peer, where)) return;
  const std::uint32_t index = cells_.index(peer.value, signal.cell);
  if (tracing())
    note(self, where,
         fmt::format("notify {}: {} {} {}", name_of_cell(cells_[index]), word(op),
                     static_cast<std::int32_t>(value), word(order)));
  const Deposit& made = deposit(self, index, value, op, order, {}, where);
  check_take_back(self, cells_[index], made);
}

WaitStatus Execution::read_signal(Thread& self, ReadKind kind, const Condition* conditions,
                                  std::uint32_t count, Rank owner, Order order, Where where) {
  const char* const what = word(kind, self.read.fetch);
  step(self, what, where);
  if (fibers_.unwinding()) return WaitStatus::aborted;
  change_before(self, what, where);
  order = sites_.order_of(what, order, where);
  self.scope = sites_.scope_of(what, self.scope, where);
  if (options_.profile != Profile::sc) {  // a hand releases, a take acquires, whatever else is said
    if (kind == ReadKind::hand) order = release_part(order);
    if (kind == ReadKind::take) order = acquire_part(order);
  }
  if (kind == ReadKind::wait && sites_.has("wait", where, Change::drop)) return WaitStatus::ok;
  if (self.is_task && !self.deferred) tasks_.waits(self.id);
  PendingRead& read = self.read;
  read.kind = kind;
  read.order = order;
  read.looks.resize(count);
  read.put_off = read.expiry_offered = false;
  read.peer = owner.value;
  read.where = where;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!check_cell(self, conditions[i].signal, owner, where))
      return self.settle(WaitStatus::invalid);
    Look& look = read.looks[i];
    look.cell = cells_.index(owner.value, conditions[i].signal.cell);
    look.compare = conditions[i].compare;
    look.value = conditions[i].value;
    Cell& cell = cells_[look.cell];
    look.must = cell.known(self.hb, &self.issued, self.together);
    look.newer = look.seen_count = 0;
    with(self, {look.cell, static_cast<std::uint64_t>(look.compare), look.value});
    if (kind != ReadKind::wait || (look.compare != Compare::ge && look.compare != Compare::gt))
      sensitivity_.mark(cell);
    share(self, cell);
    if (i > 0) groups_.merge(cells_[read.looks[0].cell].toucher - 1, self.id);
    add_once(cell.readers, self.id);
    if (cell.readers.size() > 1) sensitivity_.mark_several(cell);
    for (const std::uint32_t taker : cell.taken_back_by)
      if (taker != self.id) sensitivity_.mark(cell);
  }
  if (aborted_) return self.settle(WaitStatus::aborted);
  if (polls_.recall(self)) return read.status;
  fibers_.block(self, ThreadState::reading);
  if (fibers_.unwinding()) return WaitStatus::aborted;
  change_after(self, what, where);
  return self.settle(read.status);
}

void Execution::apply(const Decision& decision) {
  Thread& thread = threads_[decision.thread];
  if (decision.action == Decision::Action::again) {
    polls_.spin(thread);
    return answer_again(thread);
  }
  const bool atomic = thread.read.kind == ReadKind::atomic;
  if (atomic) {
    record_atomic(thread, decision.look);
  } else if (record_.is_kept())
    record_.answered(thread.id, decision.action == Decision::Action::take
                                    ? Answer{false, decision.look,
                                             thread.read.looks[decision.look].cell, *decision.set}
                                    : Answer{true, 0, 0, {}});
  if (atomic)
    take_atomic(thread, decision.look);
  else if (decision.action == Decision::Action::take)
    take(thread, decision.look, *decision.set);
  else {
    ++expired_;
    thread.read.status = WaitStatus::expired;
    if (tracing()) note(thread, thread.read.where, "the wait expires");
  }
  fibers_.ready(thread);
}

// The poll that is asked about sees again what it saw the last time.
void Execution::answer_again(Thread& thread) {
  polls_.answer_again();
  // Where only atomic objects are left it does so until it is clear that it has no end.
  if (tracing() && thread.read.kind != ReadKind::atomic)
    note(thread, thread.read.where, "polls again, and sees nothing new");
  fibers_.ready(thread);
}

void Execution::look(Thread& self, std::uint64_t what, Where where) {
  if (fibers_.unwinding() || self.is_setup) return;
  if (polls_.is_stale(self, what, where)) fibers_.block(self, ThreadState::polling);
}

// What the thread knows from the deposits that it has read. `holds`: they are what it asked for.
void Execution::learn(Thread& thread, const Cell& cell, const Bits& set, bool holds) {
  const PendingRead& read = thread.read;
  const bool acquires = (holds || mutant("pending-test-acquires")) &&
                        (read.order == Order::acquire || read.order == Order::acq_rel ||
                         mutant("relaxed-wait-acquires")) &&
                        !mutant("wait-acquires-nothing");
  // A wait is done before what follows, and a test that held; a read, a fetched operation, and a
  // test that did not hold are loads like others. (On sc everything is in order.)
  const bool waited = acquires || options_.profile == Profile::sc ||
                      (waits(read.kind) || (read.kind == ReadKind::test && holds)) ||
                      mutant("reads-end-at-once");
  cell.contained(set).each([&](std::uint32_t at) {
    const Deposit& deposit = cell.deposits[at];
    if (acquires)
      thread.hb.join(deposit.view);
    else
      thread.pending.join(deposit.view);
    thread.pending.join(deposit.behind);
    learn_of_caches(thread, deposit, acquires);
    if (acquires || !mutant("relaxed-reads-without-cause")) {
      thread.cause.join(deposit.cause);
      (waited ? thread.ended : thread.looked).join(deposit.ended);
    }
    if (deposit.thread != thread.id) thread.depth = std::max(thread.depth, deposit.depth);
  });
  if (acquires) acquire_caches(thread);
}

void Execution::take(Thread& thread, std::uint32_t which, const Bits& set) {
  PendingRead& read = thread.read;
  const Look& look = read.looks[which];
  Cell& cell = cells_[look.cell];
  const std::uint32_t value = cell.value(set);
  const bool holds = read.kind == ReadKind::read || read.kind == ReadKind::fetch ||
                     satisfies(value, look.compare, look.value);
  read.status = holds ? WaitStatus::ok : WaitStatus::pending;
  read.index = which;
  read.value = value;
  with(thread, {which, value, static_cast<std::uint64_t>(holds)});
  polls_.remember(thread, which, set);

  Taken taken;
  taken.kind = read.kind;
  taken.thread = thread.id;
  taken.epoch = thread.epoch();
  taken.cell = look.cell;
  taken.looks = static_cast<std::uint32_t>(read.looks.size());
  taken.compare = look.compare;
  taken.value = look.value;
  taken.order = read.order;
  taken.must = look.must;
  taken.set = set;
  taken.where = read.where;
  taken_.push_back(std::move(taken));
  cell.readings.push_back({thread.id, thread.epoch(), set, thread.scope, read.where});
  check_scope(thread, cell, look.must);
  learn(thread, cell, set, holds);
  if (waits(read.kind) || read.kind == ReadKind::fetch) {
    ++costs_[thread.rank].waits;
    costs_[thread.rank].rounds = std::max(costs_[thread.rank].rounds, thread.depth);
  }
  if (tracing()) {
    note(thread, read.where,
         fmt::format("{}: saw {}{}{}", read_in_words(read, look), static_cast<std::int32_t>(value),
                     holds ? "" : ", not yet", deposits_in_words(cell, set, look.must)));
    cell.contained(set).each([&](std::uint32_t at) {
      if (!look.must.has(at)) trace_.took(thread.id, cell.deposits[at].step);
    });
  }
  if (options_.profile == Profile::sc)
    one_order_.add_read(look.cell, set, thread.stamp(), thread.cause);
  thread.tick();
  write_back(thread, set, value);
}

}  // namespace muster::check::engine
