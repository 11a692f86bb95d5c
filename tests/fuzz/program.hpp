// A small language of straight-line programs over a Fabric's operations: what the fuzzer draws, the
// reference interprets and the checker explores. One list of operations for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "muster/types.hpp"

namespace muster::fuzz {

enum class Kind : std::uint8_t {
  notify,        // cell, peer, value, op, order
  wait,          // cell, compare, value, order
  test,          // as wait; logs 1 for ok and 0 for pending
  read,          // cell, order; logs the value
  hand,          // cell, peer, order
  take,          // cell, order
  fetch_add,     // cell, peer, value, order; logs what was there
  exchange,      // cell, peer, value, order; logs what was there
  compare_swap,  // cell, peer, expected, value, order; logs what was there
  store,         // own window: element `to` becomes `value`
  load,          // own window: logs element `from`
  remote_store,  // peer's element `to` becomes `value`
  remote_load,   // logs the peer's element `from`
  remote_add,    // adds `value` to the peer's element `to`
  put,           // own elements `from`, `count` of them, to the peer's at `to`
  get,           // the peer's elements `from`, `count` of them, to the own at `to`
  put_async,     // as put, in flight until complete or flush
  get_async,     // as get, in flight until complete or flush
  put_signal,    // put, then a deposit (cell, value, op) that carries this payload alone
  flush,
  flush_peer,     // peer
  complete,       // the thread's last put_async or get_async with the peer
  converge,       // of the threads of the lane
  read_counter,   // logs the own lane's counter
  write_counter,  // the own lane's counter becomes `value`
  boundary,      // the kernel ends and the next one starts: in the list of every thread of the rank
  put_sentinel,  // `value` into the peer's slot `to`, with its own flag
  wait_sentinel,   // until something is in the own slot `to`; logs it
  clear_sentinel,  // the own slot `to`
  launch_wait,     // until the kernel before has ended
  launch_done,     // the next kernel may begin
};

// An operation may depend on what its thread logged last (0 if nothing yet).
enum class When : std::uint8_t { always, last_nonzero, last_zero };

struct Op {
  Kind kind = Kind::converge;
  std::uint32_t cell = 0;
  std::uint32_t peer = 0;
  std::uint32_t value = 0;
  std::uint32_t expected = 0;
  NotifyOp op = NotifyOp::set;
  Compare compare = Compare::ge;
  Order order = Order::acq_rel;  // its release part for a notify, its acquire part for a wait
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  std::uint32_t count = 1;
  When when = When::always;
  friend bool operator==(const Op&, const Op&) = default;
};

// Within which read-modify-writes are atomic towards each other.
enum class Domain : std::uint8_t { host, gpu, nic };

struct Program {
  Profile profile = Profile::rdma;
  std::uint32_t ranks = 2;
  std::uint32_t lanes = 1;
  std::uint32_t threads = 1;   // per lane
  std::uint32_t cells = 4;     // signals per rank
  std::uint32_t elements = 4;  // window elements per rank
  std::uint32_t slots = 0;     // sentinel slots per rank
  std::uint32_t kernels = 1;   // that may overlap: one after another on each rank
  std::uint32_t apart = 1;     // from one element to the next, in elements: 16 is a line of a cache
  std::vector<Domain> domains;  // where the ranks' atomic operations are made; empty: in one domain
  std::uint32_t zero_cells = 0;  // bit c: cell c of every rank is promised to be zero at the end
  // Index: ((kernel * ranks + rank) * lanes + lane) * threads + thread.
  std::vector<std::vector<Op>> code;

  [[nodiscard]] std::uint32_t in_kernel() const { return ranks * lanes * threads; }
  [[nodiscard]] std::uint32_t strands() const { return kernels * in_kernel(); }
  [[nodiscard]] std::uint32_t kernel_of(std::size_t strand) const {
    return static_cast<std::uint32_t>(strand) / in_kernel();
  }
  [[nodiscard]] std::uint32_t rank_of(std::size_t strand) const {
    return static_cast<std::uint32_t>(strand) % in_kernel() / (lanes * threads);
  }
  [[nodiscard]] std::uint32_t lane_of(std::size_t strand) const {  // numbered over all ranks
    return static_cast<std::uint32_t>(strand) % in_kernel() / threads;
  }
  [[nodiscard]] std::uint32_t thread_of(std::size_t strand) const {
    return static_cast<std::uint32_t>(strand) % threads;
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t total = 0;
    for (const auto& list : code) total += list.size();
    return total;
  }
};

// A fetched operation: it reads a cell, of the own rank or a peer, and may change it.
[[nodiscard]] constexpr bool fetches(Kind kind) {
  return kind == Kind::fetch_add || kind == Kind::exchange || kind == Kind::compare_swap;
}

// An operation on a slot.
[[nodiscard]] constexpr bool slotted(Kind kind) {
  return kind == Kind::put_sentinel || kind == Kind::wait_sentinel || kind == Kind::clear_sentinel;
}

// Is the operation one that all threads of the lane call together? Element i of such a transfer is
// moved by thread i mod threads of the lane.
[[nodiscard]] bool is_collective(Kind kind);

[[nodiscard]] std::string to_string(const Op& op);
[[nodiscard]] std::string to_string(const Program& program);

}  // namespace muster::fuzz
