// A lane's deposits and transfers, and what makes them take effect in order.
#include <algorithm>
#include <cstring>
#include <deque>

#include "fabric/ucx/add.hpp"
#include "fabric/ucx/patience.hpp"
#include "fabric/ucx/wire_state.hpp"

namespace muster::ucx {
namespace {

// A message of additions or of packets is eager: longer ones are split.
constexpr std::size_t message_bytes = std::size_t{32} << 10U;

}  // namespace

// ---- waiting for UCX

WaitStatus Wire::State::finish(Operation* operation, Rank peer) {
  host::CallClock alone;  // outside of every call: a deadline of its own
  return finish(operation, peer, alone);
}

WaitStatus Wire::State::finish(Operation* operation, Rank peer, host::CallClock& call) {
  if (operation == nullptr) return ended();
  Patience patience(*network, *team, call);
  // Pairs with the release of UCX's callback, by whatever thread.
  while (!operation->done.load(std::memory_order_acquire)) {
    const WaitStatus status = patience.turn();
    if (status == WaitStatus::ok) continue;
    network->abandon(operation);  // it keeps what UCX still reads
    return record(status, nullptr);
  }
  if (network->retire(operation) == UCS_OK) return ended();
  // The connection is broken: progress fails the team, which says so.
  for (int i = 0; i < 1000 && team->status() == WaitStatus::ok; ++i)
    if (patience.turn() != WaitStatus::ok) break;
  if (team->status() == WaitStatus::ok)
    network->fail(*team, WaitStatus::peer_lost,
                  {ErrorCode::peer_lost, "a transfer to " + team->called(peer) + " failed",
                   team->rank(), lane, peer});
  return record(team->status(), nullptr);
}

WaitStatus Wire::State::finish_adds() {
  host::CallClock alone;
  Patience patience(*network, *team, alone);
  // Pairs with the release where an answer is counted.
  while (added.load(std::memory_order_acquire) != additions) {
    const WaitStatus status = patience.turn();
    if (status != WaitStatus::ok) return record(status, nullptr);
  }
  return ended();
}

WaitStatus Wire::State::flush(Rank peer) {
  Link& link = links[peer.value];
  if (added.load(std::memory_order_acquire) != additions)
    if (const WaitStatus status = finish_adds(); status != WaitStatus::ok) return status;
  if (link.moved || link.notified || !link.pending.empty()) {
    ++traffic.flushes;
    const WaitStatus status = finish(network->flush(team->job_rank_of(peer)), peer);
    if (status != WaitStatus::ok) return status;
    while (!link.pending.empty()) {
      Operation* const first = link.pending.front().second;
      link.pending.pop_front();
      if (const WaitStatus last = finish(first, peer); last != WaitStatus::ok) return last;
    }
    link.moved = link.notified = false;
  }
  return ended();
}

// A set goes as a put and an add as an atomic operation: they may take two ways, between which
// UCX's fence orders nothing. Nor does it say which way a put takes. So a release flushes what it
// speaks for, and a deposit of another kind than the last one flushes that one.
bool Wire::State::clear_way(Rank peer, NotifyOp op, Order order) {
  Link& link = links[peer.value];
  const bool speaks = order == Order::release || order == Order::acq_rel;
  const bool adds_open = speaks && added.load(std::memory_order_acquire) != additions;
  if (speaks && (link.moved || adds_open)) {
    ++traffic.release_flushes;
  } else if (link.notified && link.last != op) {
    ++traffic.order_flushes;
  } else {
    return ended() == WaitStatus::ok;
  }
  return flush(peer) == WaitStatus::ok;
}

// ---- deposits

void Wire::notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op, Order order) {
  if (!state_->clear_way(peer, op, order)) return;
  State::Link& link = state_->links[peer.value];
  ++state_->traffic.deposits;
  state_->network->deposit(state_->target(peer, signal), value, op, link.notified);
  link.notified = true;
  link.last = op;
}

Fetched Wire::fetch(Fetch what, Signal signal, Rank peer, std::uint32_t value,
                    std::uint32_t expected, Order order) {
  if (!state_->clear_way(peer, NotifyOp::add, order)) return {ended(), 0};
  ++state_->traffic.deposits;
  Operation* const operation =
      state_->network->fetch(state_->target(peer, signal), what, value, expected);
  // The answer lies in the operation, which finish gives back.
  host::CallClock alone;
  Patience patience(*state_->network, *state_->team, alone);
  while (!operation->done.load(std::memory_order_acquire)) {
    const WaitStatus status = patience.turn();
    if (status == WaitStatus::ok) continue;
    state_->network->abandon(operation);
    return {state_->record(status, nullptr), 0};
  }
  const auto found = static_cast<std::uint32_t>(operation->words[1]);
  return {state_->finish(operation, peer), found};
}

WaitStatus Wire::hand(Signal signal, Rank peer, Order order, host::CallClock& call) {
  Patience patience(*state_->network, *state_->team, call);
  while (true) {
    const Fetched found = fetch(Fetch::compare_swap, signal, peer, 1, 0, order);
    if (found.status != WaitStatus::ok) return found.status;
    if (found.value == 0) return WaitStatus::ok;
    std::uint32_t seen = found.value;
    const Awaited there{&seen, Compare::eq, 0, signal};
    if (const WaitStatus status = patience.turn(); status != WaitStatus::ok) {
      const WaitStatus recorded = state_->record(status, &there);
      if (status == WaitStatus::expired && state_->error) state_->error->peer = peer;
      return recorded;
    }
    if (patience.has_turned_long()) state_->notice(there);
  }
}

// ---- transfers

void Wire::put(Rank peer, Place to, const void* memory, std::size_t bytes) {
  ++state_->traffic.transfers;
  state_->links[peer.value].moved = true;
  // The source is the caller's again on return; the lane has what goes wrong.
  (void)state_->finish(state_->network->put(state_->target(peer, to), memory, bytes), peer);
}

WaitStatus Wire::get(Rank peer, Place from, void* memory, std::size_t bytes) {
  ++state_->traffic.transfers;
  return state_->finish(state_->network->get(state_->target(peer, from), memory, bytes), peer);
}

void Wire::State::begin_async(Rank peer, Operation* operation) {
  Link& link = links[peer.value];
  ++traffic.transfers;
  ++link.numbered;
  if (operation != nullptr) link.pending.emplace_back(link.numbered, operation);
}

Request Wire::put_async(Rank peer, Place to, const void* memory, std::size_t bytes) {
  state_->begin_async(peer, state_->network->put(state_->target(peer, to), memory, bytes));
  state_->links[peer.value].moved = true;
  return {peer.value, state_->links[peer.value].numbered};
}

Request Wire::get_async(Rank peer, Place from, void* memory, std::size_t bytes) {
  state_->begin_async(peer, state_->network->get(state_->target(peer, from), memory, bytes));
  return {peer.value, state_->links[peer.value].numbered};
}

WaitStatus Wire::complete(Request request) {
  if (request.peer >= state_->links.size()) return ended();
  State::Link& link = state_->links[request.peer];
  while (!link.pending.empty() && link.pending.front().first <= request.number) {
    Operation* const first = link.pending.front().second;
    link.pending.pop_front();
    const WaitStatus status = state_->finish(first, Rank{request.peer});
    if (status != WaitStatus::ok) return status;
  }
  return ended();
}

WaitStatus Wire::flush(Rank peer) {
  return state_->flush(peer);
}

WaitStatus Wire::flush() {
  for (std::uint32_t peer = 0; peer < state_->links.size(); ++peer)
    if (const WaitStatus status = state_->flush(Rank{peer}); status != WaitStatus::ok)
      return status;
  return ended();
}

// ---- rows

void Wire::store(Rank peer, Place to, const void* memory, Strides strides) {
  state_->links[peer.value].moved = true;
  const auto* from = static_cast<const std::byte*>(memory);
  for (std::int64_t row = 0; row < strides.rows; ++row) {
    ++state_->traffic.transfers;
    state_->network->put_copy(state_->target(peer, to), from, strides.row_bytes);
    from += strides.memory_stride;
    to.offset += strides.window_stride;
  }
}

WaitStatus Wire::load(Rank peer, Place from, void* memory, Strides strides) {
  auto* to = static_cast<std::byte*>(memory);
  // A few at once; each has a block of its own, so that one that is given up writes nobody's tile.
  struct Piece {
    Operation* operation;
    std::byte* to;
    std::size_t bytes;
  };
  std::deque<Piece> under_way;
  WaitStatus status = WaitStatus::ok;
  const auto take_first = [&] {
    const Piece piece = under_way.front();
    under_way.pop_front();
    host::CallClock alone;
    Patience patience(*state_->network, *state_->team, alone);
    while (status == WaitStatus::ok && !piece.operation->done.load(std::memory_order_acquire))
      if (const WaitStatus now = patience.turn(); now != WaitStatus::ok)
        status = state_->record(now, nullptr);
    if (status != WaitStatus::ok) return state_->network->abandon(piece.operation);
    std::memcpy(piece.to, piece.operation->block, piece.bytes);
    status = state_->finish(piece.operation, peer);
  };
  for (std::int64_t row = 0; row < strides.rows && status == WaitStatus::ok; ++row) {
    for (std::size_t at = 0; at < strides.row_bytes; at += Operations::block_bytes) {
      const std::size_t bytes = std::min(strides.row_bytes - at, Operations::block_bytes);
      ++state_->traffic.transfers;
      const Target piece = state_->target(peer, Place{from.segment, from.offset + at});
      under_way.push_back({state_->network->get_staged(piece, bytes), to + at, bytes});
      if (under_way.size() >= 8) take_first();
    }
    to += strides.memory_stride;
    from.offset += strides.window_stride;
  }
  while (!under_way.empty()) take_first();
  return status == WaitStatus::ok ? ended() : status;
}

void Wire::add(Rank peer, Place to, const void* memory, Strides strides, Number number) {
  const auto* from = static_cast<const std::byte*>(memory);
  const std::size_t word = bytes_of(number);
  const bool by_ucx = number == Number::word32 || number == Number::word64;
  const std::uint32_t job_rank = state_->team->job_rank_of(peer);
  for (std::int64_t row = 0; row < strides.rows; ++row) {
    const Target target = state_->target(peer, to);
    ++state_->traffic.transfers;
    if (by_ucx) {
      state_->links[peer.value].moved = true;
      state_->network->add_words(target, from, strides.row_bytes / word, word);
    } else {
      for (std::size_t at = 0; at < strides.row_bytes; at += message_bytes) {
        const std::size_t bytes = std::min(strides.row_bytes - at, message_bytes);
        const AddHeader header{state_->network->address_of(target) + at, state_->account,
                               state_->network->rank(), number};
        ++state_->additions;
        state_->network->send(job_rank, Message::add, header,
                              {reinterpret_cast<const char*>(from + at), bytes});
      }
    }
    from += strides.memory_stride;
    to.offset += strides.window_stride;
  }
}

void Wire::add_here(void* to, const void* memory, Strides strides, Number number) {
  auto* target = static_cast<std::byte*>(to);
  const auto* from = static_cast<const std::byte*>(memory);
  for (std::int64_t row = 0; row < strides.rows; ++row) {
    add_numbers(target, from, strides.row_bytes, number);
    from += strides.memory_stride;
    target += strides.window_stride;
  }
}

void Wire::packet(Rank peer, Place to, const void* memory, std::size_t bytes, Place flag_at,
                  std::uint32_t flag) {
  ++state_->traffic.transfers;
  const PacketHeader header{state_->network->address_of(state_->target(peer, to)),
                            state_->network->address_of(state_->target(peer, flag_at)), flag};
  state_->network->send(state_->team->job_rank_of(peer), Message::packet, header,
                        {static_cast<const char*>(memory), bytes});
}

}  // namespace muster::ucx
