// The face of the model: forwards to the execution.
#include <fmt/format.h>

#include "check/execution.hpp"
#include "muster/check.hpp"
#include "muster/fabric/model.hpp"

namespace muster::model {

using check::engine::Fetch;
using check::engine::ReadKind;

namespace {
// While an operation on a signal runs.
class InScope {
 public:
  InScope(check::engine::Thread& thread, Scope scope) : thread_(thread) { thread.scope = scope; }
  ~InScope() { thread_.scope = Scope::system; }
  InScope(const InScope&) = delete;
  InScope& operator=(const InScope&) = delete;

 private:
  check::engine::Thread& thread_;
};
}  // namespace

Actor::Actor(check::engine::Thread& thread)
    : thread_(&thread), first_(thread.id - thread.index), count_(thread.run->options().threads) {}

Actor::Actor(const Actor& of_lane, std::uint32_t first, std::uint32_t count)
    : thread_(of_lane.thread_), first_(of_lane.first_ + first), count_(count) {}

check::engine::Thread& Actor::operator*() const {
  thread_->together = {first_, count_};
  return *thread_;
}

Fabric::Fabric(const Fabric& lane, std::uint32_t first, std::uint32_t count, Where where)
    : Fabric(lane) {
  const bool good = self_->run->check_part(*self_, first, count, self_->at(where));
  if (!good) first = index_;
  threads_ = good ? count : 1;
  index_ -= first;
  self_ = Actor(lane.self_, first, threads_);
}

Fabric::Fabric(check::engine::Thread& thread)
    : self_(thread),
      rank_{thread.rank},
      lane_{thread.lane},
      size_(thread.run->options().ranks),
      lanes_(thread.lanes),
      index_(thread.index),
      threads_(thread.run->options().threads),
      profile_(thread.run->options().profile) {}

void Fabric::converge(Where where) {
  WaitStatus status = WaitStatus::ok;
  self_->run->converge(*self_, status, "converge", self_->at(where));
}

WaitStatus Fabric::converge(WaitStatus status, Where where) {
  status = worst(status, self_->status);
  self_->run->converge(*self_, status, "converge", self_->at(where));
  return self_->settle(status);
}

WaitStatus Fabric::status() const {
  return self_->status;
}

void Fabric::progress(Where where) {
  self_->run->step(*self_, "progress", self_->at(where));
}

void Fabric::broadcast_bytes(void* value, std::size_t size, Where where) {
  self_->run->broadcast(*self_, value, size, self_->at(where));
}

void Fabric::notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op, Order order,
                    Scope scope, Where where) {
  const InScope in(*self_, scope);
  self_->run->notify(*self_, signal, peer, value, op, order, self_->at(where));
}

WaitStatus Fabric::wait(Signal signal, Compare compare, std::uint32_t value, Order order,
                        Scope scope, Where where) {
  const InScope in(*self_, scope);
  const Condition condition = {signal, compare, value};
  return self_->run->read_signal(*self_, ReadKind::wait, &condition, 1, rank_, order,
                                 self_->at(where));
}

WaitStatus Fabric::test(Signal signal, Compare compare, std::uint32_t value, Order order,
                        Scope scope, Where where) {
  const InScope in(*self_, scope);
  const Condition condition = {signal, compare, value};
  return self_->run->read_signal(*self_, ReadKind::test, &condition, 1, rank_, order,
                                 self_->at(where));
}

AnyStatus Fabric::wait_any(const Condition* conditions, std::uint32_t count, Order order,
                           Scope scope, Where where) {
  const InScope in(*self_, scope);
  if (!self_->run->contract(*self_, count > 0, "wait_any of no conditions", self_->at(where)))
    return {WaitStatus::invalid, 0};
  const WaitStatus status = self_->run->read_signal(*self_, ReadKind::any, conditions, count, rank_,
                                                    order, self_->at(where));
  return {status, self_->read.index};
}

std::uint32_t Fabric::read(Signal signal, Order order, Scope scope, Where where) {
  const InScope in(*self_, scope);
  const Condition condition = {signal, Compare::ge, 0};
  const WaitStatus status = self_->run->read_signal(*self_, ReadKind::read, &condition, 1, rank_,
                                                    order, self_->at(where));
  return status == WaitStatus::ok ? self_->read.value : 0;
}

WaitStatus Fabric::hand(Signal signal, Rank peer, Order order, Where where) {
  const Condition condition = {signal, Compare::eq, 0};
  return self_->run->read_signal(*self_, ReadKind::hand, &condition, 1, peer, order,
                                 self_->at(where));
}

WaitStatus Fabric::take(Signal signal, Order order, Where where) {
  const Condition condition = {signal, Compare::eq, 1};
  return self_->run->read_signal(*self_, ReadKind::take, &condition, 1, rank_, order,
                                 self_->at(where));
}

Fetched Fabric::fetch_add(Signal signal, Rank peer, std::uint32_t value, Order order, Scope scope,
                          Where where) {
  const InScope in(*self_, scope);
  return self_->run->fetch(*self_, {Fetch::Kind::add, value, 0}, signal, peer, order,
                           self_->at(where));
}

Fetched Fabric::exchange(Signal signal, Rank peer, std::uint32_t value, Order order, Scope scope,
                         Where where) {
  const InScope in(*self_, scope);
  return self_->run->fetch(*self_, {Fetch::Kind::exchange, value, 0}, signal, peer, order,
                           self_->at(where));
}

Fetched Fabric::compare_swap(Signal signal, Rank peer, std::uint32_t expected,
                             std::uint32_t desired, Order order, Scope scope, Where where) {
  const InScope in(*self_, scope);
  return self_->run->fetch(*self_, {Fetch::Kind::compare_swap, desired, expected}, signal, peer,
                           order, self_->at(where));
}

std::uint32_t Fabric::counter(Counter counter, Where where) {
  return self_->run->counter(*self_, counter, self_->at(where));
}

void Fabric::set_counter(Counter counter, std::uint32_t value, Where where) {
  self_->run->set_counter(*self_, counter, value, self_->at(where));
}

void Fabric::require_direct(Rank peer, Where where) {
  self_->run->check_rank(*self_, peer, self_->at(where));
  self_->run->contract(*self_, profile_ != Profile::rdma,
                       "address() needs the profile direct: load and store do not reach peers",
                       self_->at(where));
}

bool Fabric::begin_move(Span window, std::uint32_t team, std::int64_t rows, std::int64_t cols,
                        Rank peer, Box box, std::int64_t tile_rows, std::int64_t tile_cols,
                        Move move, Where where) {
  constexpr const char* words[] = {"load", "store", "remote_load", "remote_store", "remote_add"};
  const char* word = words[static_cast<int>(move)];
  auto& run = *self_->run;
  run.step(*self_, word, self_->at(where));
  if (!run.check_rank(*self_, peer, self_->at(where)) ||
      !check_run(window, team, 0, window.count, window.count, where))
    return false;
  if (!check_box(rows, cols, box, tile_rows, tile_cols, "the box lies outside the window", where))
    return false;
  if (run.tracing())
    run.note(*self_, self_->at(where),
             fmt::format("{} {} x {} at ({}, {}) of rank {}", word, box.rows, box.cols, box.row,
                         box.col, peer.value));
  if (move == Move::load || move == Move::remote_load)
    run.look(*self_,
             (static_cast<std::uint64_t>(box.row * cols + box.col) << 20U) ^
                 (std::uint64_t{window.segment} << 10U) ^ peer.value,
             self_->at(where));
  else
    run.changes(*self_);
  return true;
}

bool Fabric::check_box(std::int64_t rows, std::int64_t cols, Box box, std::int64_t tile_rows,
                       std::int64_t tile_cols, const char* outside, Where where) {
  auto& run = *self_->run;
  const bool inside = box.row >= 0 && box.col >= 0 && box.rows >= 0 && box.cols >= 0 &&
                      box.row + box.rows <= rows && box.col + box.cols <= cols;
  return run.contract(*self_, inside, outside, self_->at(where)) &&
         run.contract(*self_, box.rows <= tile_rows && box.cols <= tile_cols,
                      "the box is larger than the tile", self_->at(where));
}

void Fabric::inexact() {
  self_->run->inexact();
}

void* Fabric::move_element(Span span, Rank peer, Move move) {
  const Access access = move == Move::load || move == Move::remote_load ? Access::read
                        : move == Move::remote_add                      ? Access::remote_add
                                                                        : Access::write;
  const bool remote = move != Move::load && move != Move::store;
  return self_->run->move_element(*self_, span, peer, access, remote);
}

bool Fabric::check_run(Span window, std::uint32_t team, std::int64_t at, std::int64_t count,
                       std::int64_t size, Where where) {
  auto& run = *self_->run;
  const std::uint64_t bytes = run.windows().bytes_of(window.segment);
  const bool exists = team == 0 && size >= 0 &&
                      window.offset + static_cast<std::uint64_t>(size) * window.element <= bytes;
  if (!run.contract(*self_, exists, "the window is not one of this team", self_->at(where)))
    return false;
  if (at >= 0 && count >= 0 && at <= size - count) return true;
  return run.contract(
      *self_, false,
      fmt::format("elements {} to {} lie outside a window of {}", at, at + count, size),
      self_->at(where));
}

Fabric::Request Fabric::put_bytes(Span to, Rank peer, Span from, bool async, Where where) {
  self_->run->put(*self_, to, peer, from, async, self_->at(where));
  return {peer, self_->run->agents()};
}

Fabric::Request Fabric::get_bytes(Span to, Span from, Rank peer, bool async, Where where) {
  self_->run->get(*self_, to, from, peer, async, self_->at(where));
  return {peer, self_->run->agents()};
}

void Fabric::put_signal_bytes(Span to, Rank peer, Span from, Signal signal, std::uint32_t value,
                              NotifyOp op, Where where) {
  self_->run->put_signal(*self_, to, peer, from, signal, value, op, self_->at(where));
}

WaitStatus Fabric::complete(Request request, Where where) {
  self_->run->complete(*self_, request.peer, request.begun, self_->at(where));
  return self_->status;
}

WaitStatus Fabric::flush(Rank peer, Where where) {
  self_->run->flush(*self_, peer, self_->at(where));
  return self_->status;
}

WaitStatus Fabric::flush(Where where) {
  self_->run->flush(*self_, std::nullopt, self_->at(where));
  return self_->status;
}

void Fabric::describe(const CallSignature& call) {
  self_->run->describe(*self_, call);
}

bool Fabric::called_from(Where where) {
  if (self_->called.line() > 0) return false;
  self_->called = where;
  return true;
}

void Fabric::returned(bool outermost) {
  if (outermost) self_->called = {};
}

void Fabric::enter_call(std::uint32_t barrier, BarrierScope scope, Where where) {
  self_->run->enter_call(*self_, barrier, scope, self_->at(where));
}

void Fabric::leave_call(std::uint32_t barrier, WaitStatus status, Where where) {
  self_->run->leave_call(*self_, barrier, status, self_->at(where));
}

void Fabric::expectation(bool holds, std::string_view what, Where where) {
  self_->run->expect(*self_, holds, what, self_->at(where));
}

void Fabric::outcome(std::uint64_t value) {
  self_->run->record_outcome(*self_, value);
}

void* Fabric::touch(Rank rank, Span span, Access access, Where where) {
  return self_->run->touch(*self_, rank, span, access, self_->at(where));
}

}  // namespace muster::model

namespace muster::check {

void Body::expect(bool holds, const char* what) {
  auto* run = engine::Execution::current();
  if (run != nullptr && run->running() != nullptr)
    run->expect(*run->running(), holds, what, run->running()->where);
}

void Body::outcome(std::uint64_t value) {
  auto* run = engine::Execution::current();
  if (run != nullptr && run->running() != nullptr) run->record_outcome(*run->running(), value);
}

}  // namespace muster::check
