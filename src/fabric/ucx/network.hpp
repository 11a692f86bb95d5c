// A rank's end of the network: UCX's context, its worker, an endpoint for each peer, the memory.
//
// One worker serves all lanes of a rank, under one lock. A worker for each lane would need no lock,
// but each has addresses, connections and registered buffers of its own, so that start-up would
// grow with the lanes; and where a transport needs its target's help (TCP), a lane that has ended
// or computes would keep from moving what only its worker can receive. With one worker, whoever
// waits moves everybody's traffic. The lock is not held while waiting, and a lane that finds it
// taken looks at its cell again: somebody else makes the progress.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "fabric/ucx/messages.hpp"
#include "fabric/ucx/near.hpp"
#include "fabric/ucx/operation.hpp"
#include "fabric/ucx/segments.hpp"
#include "fabric/ucx/settings.hpp"
#include "fabric/ucx/team_state.hpp"
#include "muster/fabric/ucx/wire.hpp"
#include "muster/result.hpp"
#include "net/bootstrap.hpp"

namespace muster::ucx {

// A place in a peer's memory.
struct Target {
  std::uint32_t peer = 0;  // job rank
  Place place;
};

// How a survivor sees a team that has failed.
struct ShrinkView {
  std::uint32_t round = 0;
  bool decided = false;
  std::string members;  // a byte for each: does it live?
};

class Network {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Network>> join(
      muster::detail::net::Bootstrap& bootstrap, const Settings& settings);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(peers_.size()); }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Segments& segments() { return *segments_; }
  // Has each rank of this host a core?
  [[nodiscard]] bool has_core_each() const { return has_core_each_; }
  [[nodiscard]] std::size_t address_bytes() const { return address_bytes_; }

  // Moves the network on, unless another thread does. True where there was something to move.
  bool progress();

  // ---- operations: nullptr where it is done already. An error is that of the operation.
  [[nodiscard]] Operation* put(Target to, const void* memory, std::size_t bytes);
  [[nodiscard]] Operation* get(Target from, void* memory, std::size_t bytes);
  // Through staging: `memory` is free on return.
  void put_copy(Target to, const void* memory, std::size_t bytes);
  [[nodiscard]] Operation* get_staged(Target from, std::size_t bytes);
  // Nobody waits for a deposit. `fenced`: behind the ones before, where these took the same way.
  void deposit(Target cell, std::uint32_t value, NotifyOp op, bool fenced);
  // Adds words of 4 or 8 bytes, one by one.
  void add_words(Target to, const void* memory, std::size_t count, std::size_t word);
  // What was there comes to words[1].
  [[nodiscard]] Operation* fetch(Target cell, Wire::Fetch what, std::uint32_t value,
                                 std::uint32_t expected);
  [[nodiscard]] Operation* flush(std::uint32_t peer);

  // The status of one that is done, which goes back; one that nobody waits for any more.
  [[nodiscard]] ucs_status_t retire(Operation* operation);
  void abandon(Operation* operation);

  // ---- messages: sent sooner or later, or lost with the peer
  void send(std::uint32_t peer, Message kind, const void* header, std::size_t header_bytes,
            std::string_view payload);
  template <class Header>
  void send(std::uint32_t peer, Message kind, const Header& header, std::string_view payload = {}) {
    send(peer, kind, &header, sizeof(header), payload);
  }
  // The address in the peer's memory, for a header.
  [[nodiscard]] std::uint64_t address_of(Target target);
  [[nodiscard]] std::optional<std::string> take_control(const ControlHeader& wanted);
  void forget_controls(std::uint64_t team);
  // How many of an account's additions have been applied.
  [[nodiscard]] std::uint64_t open_account(std::atomic<std::uint64_t>* added);
  void close_account(std::uint64_t account);

  // ---- failure
  void enter(const std::shared_ptr<TeamState>& team);
  // Fails the team here and tells its members.
  void fail(TeamState& team, WaitStatus status, Error why);
  [[nodiscard]] bool is_lost(std::uint32_t peer) const {
    return peers_[peer].lost.load(std::memory_order_acquire);
  }
  // Looks whether a process of this host has ended.
  void look_for_lost_peers();
  // From now on ranks that go are not spoken of: they leave, too.
  void begin_to_leave() { leaving_.store(true, std::memory_order_relaxed); }
  // What the survivors of a team have said.
  [[nodiscard]] std::map<std::uint32_t, ShrinkView> shrink_views(std::uint64_t team);
  void decide_shrink(std::uint64_t team, ShrinkView decision);

  // ---- numbers of teams in this process
  [[nodiscard]] std::uint32_t number_team();
  void free_team_number(std::uint32_t number);

 private:
  struct Peer {
    std::string address;
    ucp_ep_h endpoint = nullptr;
    std::atomic<bool> lost{false};
    bool broken = false;  // its endpoint has failed; closed outside of UCX's callbacks
  };
  struct Outgoing;  // a message until UCX has sent it
  using ControlKey = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>;

  Network(const Settings& settings, std::uint32_t rank, std::uint32_t size);
  [[nodiscard]] std::optional<Error> open();
  [[nodiscard]] std::optional<Error> meet(muster::detail::net::Bootstrap& bootstrap);
  void listen();
  void leave();

  // With lock_ held, all of them.
  [[nodiscard]] ucp_ep_h endpoint(std::uint32_t peer);
  [[nodiscard]] RemotePart* part_of(Target target);
  [[nodiscard]] Operation* started(void* request, Operation* operation);
  [[nodiscard]] Operation* unreachable(Operation* operation);
  void abandon_locked(Operation* operation);
  bool turn();
  void attend();
  void send_locked(std::uint32_t peer, Message kind, const void* header, std::size_t header_bytes,
                   std::string_view payload);
  void lose(std::uint32_t peer, const std::string& why, bool tell);
  void close_lost(std::uint32_t peer);

  static void on_done(void* request, ucs_status_t status, void* operation);
  static void on_sent(void* request, ucs_status_t status, void* outgoing);
  static void on_broken(void* self, ucp_ep_h endpoint, ucs_status_t status);
  template <Message kind>
  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes,
                                 void* data, std::size_t bytes, const ucp_am_recv_param_t* how);
  void receive(Message kind, const void* header, std::size_t header_bytes, const std::byte* data,
               std::size_t bytes);
  void receive_add(const AddHeader& header, const std::byte* data, std::size_t bytes);
  void receive_packet(const PacketHeader& header, const std::byte* data, std::size_t bytes);
  void receive_failure(const FailureHeader& header, std::string words);
  void receive_shrink(const ShrinkHeader& header, std::string members);

  Settings settings_;
  std::uint32_t rank_;
  std::vector<Peer> peers_;
  bool has_core_each_ = false;
  std::atomic<bool> leaving_{false};
  std::size_t address_bytes_ = 0;

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::mutex lock_;  // over the worker and what follows
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Segments> segments_;
  std::unordered_map<std::uint64_t, std::atomic<std::uint64_t>*> accounts_;
  std::uint64_t next_account_ = 1;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> owed_;  // (peer, account)
  std::vector<std::pair<std::uint32_t, std::string>> broken_;              // endpoints, and why
  std::vector<std::pair<FailureHeader, std::string>> failures_;            // that were told

  std::mutex controls_lock_;
  std::map<ControlKey, std::string> controls_;

  std::mutex teams_lock_;
  std::vector<std::weak_ptr<TeamState>> teams_;
  std::map<std::uint64_t, std::pair<WaitStatus, Error>> early_failures_;
  std::map<std::uint64_t, std::map<std::uint32_t, ShrinkView>> shrinks_;
  std::map<std::uint64_t, ShrinkView> decisions_;
  std::vector<std::uint32_t> shrinks_to_answer_;
  std::vector<bool> numbers_;

  Near near_;
};

}  // namespace muster::ucx
