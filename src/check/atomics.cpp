// Operations on atomic objects and on plain data beside them (muster/check/atomic.hpp), on the
// memory of weak_memory.hpp.
//
// A load, a read-modify-write and, where it has several places, a store are choices of a scheduler,
// as reads of signals are. A load that is put off must read a write that is not there yet; a store
// need not be put off, since whatever comes later finds its own place before or behind it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

using CallKind = detail::AtomicCall::Kind;

namespace {

struct Orders {
  bool acquire = false;
  bool release = false;
  bool sc = false;
};

Orders orders_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return {};
    case std::memory_order_consume:
    case std::memory_order_acquire: return {true, false, false};
    case std::memory_order_release: return {false, true, false};
    case std::memory_order_acq_rel: return {true, true, false};
    case std::memory_order_seq_cst: break;
  }
  return {true, true, true};
}

Order plain(Orders of) {
  if (of.acquire) return of.release ? Order::acq_rel : Order::acquire;
  return of.release ? Order::release : Order::relaxed;
}

const char* order_word(const MemoryAccess& access, bool reads, bool writes) {
  if (access.sc) return "seq_cst";
  return word(plain({access.acquire && reads, access.release && writes, false}));
}

bool legal(const detail::AtomicCall& call) {
  const Orders order = orders_of(call.order);
  const Orders failure = orders_of(call.failure);
  switch (call.kind) {
    case CallKind::load: return order.sc || !order.release;
    case CallKind::store: return order.sc || !order.acquire;
    case CallKind::swap: return failure.sc || !failure.release;
    case CallKind::change: break;
  }
  return true;
}

}  // namespace

MemoryAccess Execution::access_of(const Thread& self, std::memory_order order, Scope scope,
                                  const char* operation, Where where) {
  Orders wanted = orders_of(order);
  const Order changed = sites_.order_of(operation, plain(wanted), where);
  if (options_.profile == Profile::sc) {
    wanted = {true, true, true};
  } else if (sites_.has(operation, where, Change::relax)) {
    wanted = {};
  } else {
    wanted.acquire = wanted.acquire || changed == Order::acquire || changed == Order::acq_rel;
    wanted.release = wanted.release || changed == Order::release || changed == Order::acq_rel;
  }
  MemoryAccess access;
  access.thread = self.id;
  access.scope = sites_.scope_of(operation, scope, where);
  access.acquire = wanted.acquire && !mutant("atomic-acquires-nothing");
  access.release = wanted.release && !mutant("atomic-releases-nothing");
  access.sc = wanted.sc;
  return access;
}

// What the destructors of an execution that is given up find: 0, 0, 1, 0, 1, 2 ..., so that one
// which waits for some value has it in the end.
Word Execution::unwound() {
  if (unwound_at_ == unwound_end_) unwound_at_ = 0, ++unwound_end_;
  return unwound_at_++;
}

Word Execution::atomic(Thread& self, const detail::Object& of, const detail::AtomicCall& call) {
  if (fibers_.unwinding()) return unwound();
  const Where where = self.at(call.where.line() > 0 ? call.where : self.where.at);
  step(self, call.operation, where);
  sites_.come_to(call.operation, where);
  has_atomics_ = true;
  // On sc the sets of signals that are enough where these are alone are not enough any more.
  if (options_.profile == Profile::sc && !exact_sc_) unexplained_ = true;
  if (!contract(self, legal(call), std::string(call.operation) + " of an order that it cannot have",
                where))
    return 0;
  const auto index = find_object(self, of, true);
  if (!index) return 0;
  const MemoryAccess access = access_of(self, call.order, call.scope, call.operation, where);
  if (access.sc && options_.rules == Rules::ptx && options_.profile != Profile::sc)
    fence_in_order(self, access, where);
  PendingRead& read = self.read;
  read.kind = ReadKind::atomic;
  read.looks.clear();
  read.put_off = read.expiry_offered = read.again = read.may_spin = false;
  read.where = where;
  read.status = WaitStatus::ok;
  AtomicRead& atomic = read.atomic;
  atomic = {};
  atomic.call = &call;
  atomic.access = access;
  atomic.object = *index;
  atomic.location = objects_[*index].location;
  atomic.must = weak_.latest(atomic.location, self.hb);
  with(self, {static_cast<std::uint64_t>(call.kind), call.operand, call.expected});
  if (polls_.recall(self)) return atomic.found;
  if (call.kind == CallKind::store && ways_of_atomic(self, false).size() == 1)
    take_atomic(self, ways_of_atomic(self, false).front());
  else
    fibers_.block(self, ThreadState::reading);
  if (fibers_.stopped()) fibers_.block(self, ThreadState::reading);  // for good
  return self.read.atomic.found;
}

std::uint32_t Execution::came_to_atomic(const Thread& thread) const {
  const AtomicRead& atomic = thread.read.atomic;
  if (atomic.call == nullptr) return weak_.sc_fences();
  return static_cast<std::uint32_t>(weak_.order(atomic.location).size());
}

// The newest first. `newer`: only what has come since it was put off.
std::vector<WriteNumber> Execution::ways_of_atomic(const Thread& thread, bool newer) const {
  const AtomicRead& atomic = thread.read.atomic;
  if (atomic.call == nullptr) return {0};
  const detail::AtomicCall& call = *atomic.call;
  std::vector<WriteNumber> all = weak_.writable(atomic.location, thread.hb);
  const std::vector<WriteNumber> changeable = all;
  if (call.kind == CallKind::load || call.kind == CallKind::swap)
    all = weak_.readable(atomic.location, thread.hb);
  std::erase_if(all, [&](WriteNumber number) {
    if (newer && thread.read.put_off && number < atomic.newer) return true;
    if (call.kind == CallKind::store || call.kind == CallKind::load)
      return thread.read.again && number == atomic.must;
    const Word value = weak_.value(atomic.location, number);
    if (call.kind == CallKind::change) return thread.read.again && value == atomic.found;
    const bool changes = value == call.expected;
    if (changes) return std::find(changeable.begin(), changeable.end(), number) == changeable.end();
    return thread.read.again && number == atomic.must;
  });
  std::reverse(all.begin(), all.end());
  if (call.kind == CallKind::store && mutant("atomic-stores-at-the-end")) all.resize(1);
  return all;
}

bool Execution::sees_nothing_new(const Thread& thread) const {
  if (thread.read.kind != ReadKind::atomic || thread.state != ThreadState::reading)
    return Polls::sees_nothing_new(thread, cells_);
  return thread.read.again && ways_of_atomic(thread, false).empty();
}

void Execution::gain(Thread& self, const Known& gained) {
  self.learn(gained.events);
  self.ended.join(gained.ended);
}

// Does this execution have an order of all seq_cst operations, or of all operations on sc? Where it
// has not, it is none.
void Execution::log_atomic(Thread& self, ScEvent event) {
  if (options_.profile == Profile::sc) {
    if (!event.is_fence) one_order_.add_access(event.touched, event.stamp, self.cause);
    impossible_ = !event.is_fence && !one_order_.exists(weak_);
  } else if (options_.rules == Rules::cpp) {
    sc_operations_ += event.by.sc ? 1 : 0;
    event.after = self.hb;
    sc_order_.add(std::move(event));
    impossible_ = sc_operations_ > 1 && !sc_order_.exists(weak_);
  }
  if (impossible_) fibers_.stop();
}

void Execution::take_atomic(Thread& self, WriteNumber number) {
  AtomicRead& atomic = self.read.atomic;
  if (atomic.call == nullptr) return take_fence(self);
  const detail::AtomicCall& call = *atomic.call;
  Object& object = objects_[atomic.object];
  const std::uint32_t location = atomic.location;
  const Stamp stamp = self.stamp();
  const Clock before = self.hb;
  const bool stores = call.kind == CallKind::store;
  const Word found = stores ? 0 : weak_.value(location, number);
  const bool fails = call.kind == CallKind::swap && found != call.expected;
  const bool writes = stores || (call.kind != CallKind::load && !fails);
  MemoryAccess access = atomic.access;
  if (fails) {
    access = access_of(self, call.failure, call.scope, call.operation, self.read.where);
    access.sc = access.sc || (atomic.access.sc && orders_of(call.failure).sc);
  }
  Touched touched{location, {}, {}};
  if (!stores) {
    Known gained;
    (void)weak_.read(access, stamp, location, number, gained);
    gain(self, gained);
    self.cause.join(object.writes[number].cause);
    touched.read = number;
  }
  const Word left = call.kind == CallKind::change ? call.next(found, call.operand) : call.operand;
  if (writes) {
    const Known now{self.hb, clocks_.ended_with_loads(self)};
    touched.written = stores ? weak_.write(access, stamp, location, number, left, now)
                             : weak_.write_back(access, stamp, location, number, left, now);
    object.writes.push_back({call.operation, self.read.where, self.cause, 0});
  }
  atomic.found = found;
  with(self, {found});
  log_atomic(self, {access, stamp, false, touched, before, {}});
  if (impossible_) return;
  remember_atomic(self, touched, found, left);
  tell_atomic(self, access, touched, found, left);
  check_object_scope(self, object, {access, stamp, writes, self.read.where});
  self.tick();
}

// Where a store lies, and which fence came first, is known at the end (Record::ordered).
void Execution::record_atomic(const Thread& thread, WriteNumber number) {
  const AtomicRead& atomic = thread.read.atomic;
  if (!record_.is_kept() || atomic.call == nullptr || atomic.call->kind == CallKind::store) return;
  const Stamp made = number == 0 ? Stamp{} : weak_.write_of(atomic.location, number).stamp;
  record_.answered(thread.id, {false, 0, 0, {}, made});
}

// What leaves the value as it was is a poll the next time, if it is made again; once it is a write.
void Execution::remember_atomic(Thread& self, const Touched& touched, Word found, Word left) {
  const bool idle = !touched.written || (touched.read && found == left);
  if (!idle) return polls_.changed(self);
  polls_.remember_atomic(self, touched.written ? *touched.written : *touched.read, found);
}

void Execution::tell_atomic(Thread& self, const MemoryAccess& access, const Touched& touched,
                            Word found, Word left) {
  const AtomicRead& atomic = self.read.atomic;
  Object& object = objects_[atomic.object];
  if (!tracing()) return;
  std::string text =
      fmt::format("{} {} {}", atomic.call->operation, objects_.name_of(object),
                  order_word(access, touched.read.has_value(), touched.written.has_value()));
  if (touched.read) {
    const WriteNote& from = object.writes[*touched.read];
    const std::uint32_t writer = weak_.write_of(atomic.location, *touched.read).by.thread;
    text += fmt::format(": saw {}", signed_of(object, found));
    text += writer == MemoryAccess::nobody
                ? ", the initial value"
                : fmt::format(", from the {} of {} ({})", from.operation,
                              name_of_thread(threads_[writer]), short_place(from.where));
  }
  if (touched.written)
    text += fmt::format("{} {}", touched.read ? ", leaves" : ":", signed_of(object, left));
  const auto& order = weak_.order(atomic.location);
  if (touched.written && *touched.written != order.back())
    text += ", before what is there in modification order";
  note(self, self.read.where, std::move(text));
  if (touched.read && *touched.read > 0) trace_.took(self.id, object.writes[*touched.read].step);
  if (touched.written) object.writes[*touched.written].step = trace_.last_of(self.id);
}

std::int64_t Execution::signed_of(const Object& object, Word value) {
  const std::size_t bytes = object.first.size();
  if (bytes == 4) return static_cast<std::int32_t>(value);
  if (bytes == 2) return static_cast<std::int16_t>(value);
  return static_cast<std::int64_t>(value);
}

// ---- fences

void Execution::atomic_fence(Thread& self, std::memory_order order, Scope scope,
                             std::source_location place) {
  constexpr const char* operation = "atomic fence";
  if (fibers_.unwinding()) return;
  const Where where = self.at(place);
  step(self, operation, where);
  sites_.come_to(operation, where);
  if (!find_memory(self) || sites_.has(operation, where, Change::drop)) return;
  const MemoryAccess fence = access_of(self, order, scope, operation, where);
  if (fence.sc && options_.rules == Rules::ptx && options_.profile != Profile::sc)
    return fence_in_order(self, fence, where);
  self.read.where = where;
  make_fence(self, fence);
  if (fibers_.stopped()) fibers_.block(self, ThreadState::reading);  // for good
}

bool Execution::find_memory(Thread& self) {
  has_atomics_ = true;
  return contract(self, options_.profile != Profile::rdma,
                  "a fence orders atomic objects, which need the profile direct", self.where);
}

void Execution::make_fence(Thread& self, const MemoryAccess& fence) {
  const Clock before = self.hb;
  if (fence.acquire) {
    Known gained;
    weak_.acquire_fence(fence, gained);
    gain(self, gained);
  }
  if (fence.release) weak_.release_fence(fence, {self.hb, clocks_.ended_with_loads(self)});
  if (tracing())
    note(self, self.read.where, fmt::format("atomic fence {}", order_word(fence, true, true)));
  log_atomic(self, {fence, self.stamp(), true, {}, before, {}});
  self.tick();
}

// PTX: fences of seq_cst have an order, and each learns from those before it. One that is put off
// comes behind another one that is not there yet.
void Execution::fence_in_order(Thread& self, const MemoryAccess& fence, Where where) {
  PendingRead& read = self.read;
  read.kind = ReadKind::atomic;
  read.looks.clear();
  read.put_off = read.expiry_offered = read.again = read.may_spin = false;
  read.where = where;
  read.status = WaitStatus::ok;
  read.atomic = {};
  read.atomic.access = fence;
  fibers_.block(self, ThreadState::reading);
}

void Execution::take_fence(Thread& self) {
  sc_fences_.push_back(self.stamp());
  polls_.changed(self);
  make_fence(self, self.read.atomic.access);
}

}  // namespace muster::check::engine
