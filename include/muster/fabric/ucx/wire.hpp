// The network as one lane of one rank sees it: bytes, words and places, no types. Included by
// muster/fabric/ucx.hpp; made by muster::ucx::Team.
//
// Peers are ranks of the lane's team and never the own one: what a rank does to itself is done by
// its processor, in Fabric. Whoever waits here moves the network on meanwhile, for all lanes of
// the rank. Operations of a lane that has failed do nothing and return its status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "muster/fabric/host.hpp"
#include "muster/fabric/ucx/context.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::ucx {

// Names an asynchronous transfer of a lane: which of those to this peer it is, from 1 on. One that
// has number 0 is complete.
struct Request {
  std::uint32_t peer = 0;
  std::uint64_t number = 0;
};

// What a lane has asked of the network since it began.
struct Traffic {
  std::uint64_t transfers = 0;  // puts, gets and stores; a tile may take several
  std::uint64_t deposits = 0;   // by put or atomic, fetched ones too
  std::uint64_t flushes = 0;    // of an endpoint: flush(), and those below
  // Of these the ones before a release notify that speaks for earlier transfers to that peer: UCX
  // does not say whether both take one way, and its fence orders nothing between two ways.
  std::uint64_t release_flushes = 0;
  // ... and those between deposits of two kinds to one peer, so that they keep their order.
  std::uint64_t order_flushes = 0;
};

// A cell or a word of packets that a lane waits for.
struct Awaited {
  std::uint32_t* word = nullptr;
  Compare compare = Compare::eq;
  std::uint32_t value = 0;
  Signal signal;         // its name in reports; for packets the line
  bool packets = false;  // the flag of packets
};

class Wire {
 public:
  struct State;
  explicit Wire(std::unique_ptr<State> state);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // ---- signals
  void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op, Order order);
  [[nodiscard]] WaitStatus wait(const Awaited& awaited, Order order, host::CallClock& call);
  [[nodiscard]] AnyStatus wait_any(const Awaited* awaited, std::uint32_t count, Order order,
                                   host::CallClock& call);
  // Between two looks at a cell: moves the network on; the lane's failure, or `pending`.
  [[nodiscard]] WaitStatus poll();
  [[nodiscard]] WaitStatus hand(Signal signal, Rank peer, Order order, host::CallClock& call);

  enum class Fetch : std::uint8_t { add, exchange, compare_swap };
  [[nodiscard]] Fetched fetch(Fetch what, Signal signal, Rank peer, std::uint32_t value,
                              std::uint32_t expected, Order order);

  // ---- transfers, in bytes. `memory` of put, get and the asynchronous ones lies in a window.
  void put(Rank peer, Place to, const void* memory, std::size_t bytes);
  [[nodiscard]] WaitStatus get(Rank peer, Place from, void* memory, std::size_t bytes);
  [[nodiscard]] Request put_async(Rank peer, Place to, const void* memory, std::size_t bytes);
  [[nodiscard]] Request get_async(Rank peer, Place from, void* memory, std::size_t bytes);
  [[nodiscard]] WaitStatus complete(Request request);
  [[nodiscard]] WaitStatus flush(Rank peer);
  [[nodiscard]] WaitStatus flush();

  // ---- rows of a tile, whose memory may go as soon as these return
  void store(Rank peer, Place to, const void* memory, Strides strides);
  [[nodiscard]] WaitStatus load(Rank peer, Place from, void* memory, Strides strides);
  void add(Rank peer, Place to, const void* memory, Strides strides, Number number);
  // Of the own rank, beside the adds of others.
  static void add_here(void* to, const void* memory, Strides strides, Number number);

  // `bytes` into the peer's slots, then the flag into the word at `flag_at`, by one message.
  void packet(Rank peer, Place to, const void* memory, std::size_t bytes, Place flag_at,
              std::uint32_t flag);

  // ---- the lane
  void progress();
  // What all later waits return, if not ok; once asked, the lane's error says why.
  [[nodiscard]] WaitStatus ended();
  // Whatever was wrong with the arguments: the lane's error, and the team's failure.
  void reject(std::string what);
  [[nodiscard]] const std::optional<Error>& error() const;
  [[nodiscard]] bool rejected() const;
  [[nodiscard]] const Traffic& traffic() const;
  // Memory that nobody reads, for a view of a window that does not exist; null where there is none.
  [[nodiscard]] static std::byte* nowhere(std::uint64_t bytes);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace muster::ucx
