// Joining the network and leaving it; progress; endpoints.
#include "fabric/ucx/network.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "fabric/ucx/join_card.hpp"
#include "fabric/ucx/keepalive.hpp"

namespace muster::ucx {
namespace {

using Clock = std::chrono::steady_clock;

Error error_of(const std::string& what, ucs_status_t status) {
  return {ErrorCode::unavailable, fmt::format("{}: {}", what, ucs_status_string(status))};
}

std::uint32_t cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

}  // namespace

Network::Network(const Settings& settings, std::uint32_t rank, std::uint32_t size)
    : settings_(settings), rank_(rank), peers_(size), numbers_(max_teams, false) {}

Result<std::shared_ptr<Network>> Network::join(muster::detail::net::Bootstrap& bootstrap,
                                               const Settings& settings) {
  std::shared_ptr<Network> network(new Network(settings, bootstrap.rank().value, bootstrap.size()));
  if (auto error = network->open()) return *error;
  if (auto error = network->meet(bootstrap)) return *error;
  return network;
}

// What the user says in UCX_* holds; of our own is only what correctness needs.
std::optional<Error> Network::open() {
  ucp_config_t* config = nullptr;
  if (const auto status = ucp_config_read(nullptr, nullptr, &config); status != UCS_OK)
    return error_of("UCX's configuration", status);
  // Atomics that the processor's agree with: the own rank's do not pass through UCX.
  ucp_config_modify(config, "ATOMIC_MODE", "cpu");
  keep_alive(config, settings_.keepalive);
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM;
  wanted.estimated_num_eps = peers_.size();
  const auto opened = ucp_init(&wanted, config, &context_);
  ucp_config_release(config);
  if (opened != UCS_OK) return error_of("UCX does not start (UCX_TLS, UCX_NET_DEVICES)", opened);
  ucp_worker_params_t how{};
  how.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  how.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // lock_
  if (const auto status = ucp_worker_create(context_, &how, &worker_); status != UCS_OK)
    return error_of("UCX has no worker", status);
  operations_ = std::make_unique<Operations>(context_);
  segments_ = std::make_unique<Segments>(context_);
  listen();
  return std::nullopt;
}

// Addresses travel once, and with them all that ranks must know of each other.
std::optional<Error> Network::meet(muster::detail::net::Bootstrap& bootstrap) {
  ucp_address_t* address = nullptr;
  if (const auto status = ucp_worker_get_address(worker_, &address, &address_bytes_);
      status != UCS_OK)
    return error_of("UCX has no address", status);
  JoinCard mine;
  mine.address.assign(reinterpret_cast<const char*>(address), address_bytes_);
  ucp_worker_release_address(worker_, address);
  mine.near = near_.open(rank_);
  mine.max_lanes = settings_.max_lanes;
  const auto all = bootstrap.all_gather(packed(mine), settings_.timeout);
  if (!all) return all.error();
  std::vector<std::string> near(size());
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    const auto theirs = unpacked((*all)[peer]);
    if (!theirs)
      return Error{ErrorCode::mismatch,
                   fmt::format("rank {} is of another version of muster", peer), Rank{rank_}};
    if (theirs->max_lanes != mine.max_lanes)
      return Error{ErrorCode::mismatch,
                   fmt::format("rank {} runs at most {} lanes, rank {} at most {}", rank_,
                               mine.max_lanes, peer, theirs->max_lanes),
                   Rank{rank_}};
    peers_[peer].address = theirs->address;
    near[peer] = theirs->near;
  }
  if (auto error = near_.meet(near, settings_.timeout)) return error;
  has_core_each_ = near_.count() + 1 <= cores();
  return std::nullopt;
}

Network::~Network() {
  if (worker_ != nullptr) leave();
  segments_.reset();
  operations_.reset();
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

// What is under way is sent; nobody is waited for who does not answer.
void Network::leave() {
  const std::lock_guard guard(lock_);
  const Clock::time_point until = Clock::now() + std::chrono::seconds(2);
  std::vector<void*> closing;
  for (std::uint32_t number = 0; number < size(); ++number) {
    Peer& peer = peers_[number];
    if (peer.endpoint == nullptr) continue;
    if (peer.lost.load(std::memory_order_relaxed) || peer.broken) {
      close_lost(number);
      continue;
    }
    ucp_request_param_t how{};
    void* const request = ucp_ep_close_nbx(peer.endpoint, &how);
    peer.endpoint = nullptr;
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
  }
  for (void* request : closing) {
    while (ucp_request_check_status(request) == UCS_INPROGRESS && Clock::now() < until)
      if (ucp_worker_progress(worker_) == 0) sched_yield();
    if (ucp_request_check_status(request) != UCS_INPROGRESS) ucp_request_free(request);
  }
}

// ---- progress

bool Network::progress() {
  const std::unique_lock guard(lock_, std::try_to_lock);
  return guard.owns_lock() && turn();
}

bool Network::turn() {
  const bool moved = ucp_worker_progress(worker_) != 0;
  if (!owed_.empty() || !broken_.empty() || !failures_.empty() || !shrinks_to_answer_.empty())
      [[unlikely]]
    attend();
  return moved;
}

// What callbacks of UCX have left to be done outside of them.
void Network::attend() {
  for (const auto& [to, count] : std::exchange(owed_, {})) {
    const AddedHeader answer{to.second, count};
    send_locked(to.first, Message::added, &answer, sizeof answer, {});
  }
  for (const auto& [peer, why] : std::exchange(broken_, {})) lose(peer, why, true);
  for (auto& [header, words] : std::exchange(failures_, {})) receive_failure(header, words);
  for (const std::uint32_t peer : std::exchange(shrinks_to_answer_, {})) {
    std::map<std::uint64_t, ShrinkView> decisions;
    {
      const std::lock_guard guard(teams_lock_);
      decisions = decisions_;
    }
    for (const auto& [team, view] : decisions) {
      const ShrinkHeader header{team, view.round, rank_, 1};
      send_locked(peer, Message::shrink, &header, sizeof header, view.members);
    }
  }
}

// ---- endpoints, each made by the first operation to its peer

ucp_ep_h Network::endpoint(std::uint32_t number) {
  Peer& peer = peers_[number];
  if (peer.lost.load(std::memory_order_relaxed) || peer.broken) return nullptr;
  if (peer.endpoint != nullptr) return peer.endpoint;
  ucp_ep_params_t wanted{};
  wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  wanted.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  // Shared memory tells nobody that a peer has died, and UCX leaves it out where that is asked for.
  // Within the host the process itself tells.
  wanted.err_mode = near_.is_near(number) ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
  wanted.err_handler.cb = on_broken;
  wanted.err_handler.arg = this;
  const auto status = ucp_ep_create(worker_, &wanted, &peer.endpoint);
  if (status == UCS_OK) return peer.endpoint;
  peer.endpoint = nullptr;
  peer.broken = true;
  broken_.emplace_back(number, fmt::format("UCX has no way to it: {}", ucs_status_string(status)));
  return nullptr;
}

void Network::on_broken(void* self, ucp_ep_h endpoint, ucs_status_t status) {
  auto& network = *static_cast<Network*>(self);
  for (std::uint32_t number = 0; number < network.size(); ++number) {
    Peer& peer = network.peers_[number];
    if (peer.endpoint != endpoint || peer.broken) continue;
    peer.broken = true;
    network.broken_.emplace_back(
        number, fmt::format("the connection to it broke: {}", ucs_status_string(status)));
  }
}

}  // namespace muster::ucx
