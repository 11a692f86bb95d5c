// A lane's waits, its end, and its reports.
#include "muster/fabric/ucx/wire.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdio>
#include <mutex>

#include "base/compare.hpp"
#include "fabric/ucx/add.hpp"
#include "fabric/ucx/patience.hpp"
#include "fabric/ucx/wire_state.hpp"

namespace muster::ucx {
namespace {

bool holds(const Awaited& awaited, std::memory_order order) {
  const std::atomic_ref<std::uint32_t> word(*awaited.word);
  return satisfies(word.load(order), awaited.compare, awaited.value);
}

}  // namespace

// A lane of a team that has failed waits for nothing.
Wire::State::State(std::shared_ptr<Network> of, std::shared_ptr<TeamState> in, Lane here,
                   OnExpiry expiry)
    : network(std::move(of)),
      team(std::move(in)),
      lane(here),
      on_expiry(expiry),
      links(team->size()),
      account(network->open_account(&added)),
      end(team->status()) {}

Wire::State::~State() {
  network->close_account(account);
  for (Link& link : links)
    for (const auto& [number, operation] : link.pending) network->abandon(operation);
}

Wire::Wire(std::unique_ptr<State> state) : state_(std::move(state)) {}
Wire::~Wire() = default;

// ---- waits

WaitStatus Wire::wait(const Awaited& awaited, Order order, host::CallClock& call) {
  const std::memory_order load = host::detail::load_order(order);
  if (holds(awaited, load)) return WaitStatus::ok;
  if (state_->end != WaitStatus::ok) return ended();
  Patience patience(*state_->network, *state_->team, call);
  while (true) {
    const WaitStatus status = patience.turn();
    if (holds(awaited, load)) return WaitStatus::ok;
    if (status != WaitStatus::ok) return state_->record(status, &awaited);
    if (patience.has_turned_long()) state_->notice(awaited);
  }
}

AnyStatus Wire::wait_any(const Awaited* awaited, std::uint32_t count, Order order,
                         host::CallClock& call) {
  if (state_->end != WaitStatus::ok) return {ended(), 0};
  Patience patience(*state_->network, *state_->team, call);
  const std::memory_order load = host::detail::load_order(order);
  while (true) {
    for (std::uint32_t index = 0; index < count; ++index)
      if (holds(awaited[index], load)) return {WaitStatus::ok, index};
    const WaitStatus status = patience.turn();
    if (status != WaitStatus::ok) return {state_->record(status, &awaited[0]), 0};
    if (patience.has_turned_long()) state_->notice(awaited[0]);
  }
}

WaitStatus Wire::poll() {
  if (state_->end != WaitStatus::ok) return ended();
  state_->network->progress();
  if (++state_->polls % 1024 == 0) state_->network->look_for_lost_peers();
  const WaitStatus status = state_->team->status();
  return status == WaitStatus::ok ? WaitStatus::pending : state_->record(status, nullptr);
}

void Wire::progress() {
  state_->network->progress();
}

// ---- the lane's end

WaitStatus Wire::ended() {
  return state_->ended();
}
WaitStatus Wire::State::ended() {
  return end == WaitStatus::ok ? WaitStatus::ok : record(end, nullptr);
}

const std::optional<Error>& Wire::error() const {
  return state_->error;
}
bool Wire::rejected() const {
  return state_->end == WaitStatus::invalid;
}
const Traffic& Wire::traffic() const {
  return state_->traffic;
}

void Wire::reject(std::string what) {
  if (state_->end == WaitStatus::invalid) return;
  Error wrong{ErrorCode::invalid_argument, std::move(what), state_->team->rank(), state_->lane};
  state_->end = WaitStatus::invalid;
  Error told{ErrorCode::aborted,
             fmt::format("{}: {}", state_->team->called(state_->team->rank()), wrong.what)};
  state_->network->fail(*state_->team, WaitStatus::aborted, std::move(told));
  if (!state_->error) state_->error = std::move(wrong);
}

WaitStatus Wire::State::record(WaitStatus status, const Awaited* awaited) {
  if (!error) {
    if (status == WaitStatus::expired) {
      error = awaited != nullptr ? describe(*awaited) : Error{ErrorCode::expired, {}, team->rank()};
      error->code = ErrorCode::expired;
      error->what = fmt::format("waited {} ms for {}, in vain", network->settings().timeout.count(),
                                awaited != nullptr ? whom(*error, *awaited) : "a transfer");
    } else {
      const Error failure = team->failure();
      error = awaited != nullptr ? describe(*awaited) : Error{};
      error->code = failure.code;
      error->what = failure.what;
      error->rank = team->rank();
      error->peer = failure.peer;
    }
    error->lane = lane;
  }
  if (status > WaitStatus::expired) end = status;
  if (status == WaitStatus::expired && on_expiry == OnExpiry::fail) {
    end = WaitStatus::aborted;
    network->fail(*team, WaitStatus::aborted,
                  {ErrorCode::aborted, fmt::format("{} lane {}: {}", team->called(team->rank()),
                                                   lane.value, error->what)});
  }
  return status;
}

// ---- reports

std::string Wire::State::whom(const Error& state, const Awaited& awaited) const {
  if (state.peer) return team->called(*state.peer);
  return awaited.packets ? "packets" : "a deposit";
}

Error Wire::State::describe(const Awaited& awaited) const {
  Error error_now;
  error_now.rank = team->rank();
  error_now.lane = lane;
  error_now.cell = awaited.signal.cell;
  error_now.seen = std::atomic_ref<std::uint32_t>(*awaited.word).load(std::memory_order_relaxed);
  error_now.expected = awaited.value;
  if (!awaited.packets && writer_of) error_now.peer = writer_of(awaited.signal);
  return error_now;
}

void Wire::State::notice(const Awaited& awaited) const {
  const Error state = describe(awaited);
  fmt::print(stderr, "muster: {} lane {} has waited 10 s for {}: {} {} is {}, expected {} {}\n",
             team->called(team->rank()), lane.value, whom(state, awaited),
             awaited.packets ? "line" : "cell", awaited.signal.cell, *state.seen,
             symbol_of(awaited.compare), awaited.value);
  std::fflush(stderr);
}

std::byte* Wire::nowhere(std::uint64_t bytes) {
  static std::mutex lock;
  static std::byte* memory = nullptr;
  static std::uint64_t length = 0;
  const std::lock_guard guard(lock);
  if (bytes > length || memory == nullptr) {
    // Views of the shorter one may still be about, so it stays.
    void* mapped = mmap(nullptr, bytes == 0 ? 1 : bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    memory = static_cast<std::byte*>(mapped);
    length = bytes;
  }
  return memory;
}

}  // namespace muster::ucx
