#include "fabric/ucx/team_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fabric/ucx/patience.hpp"

namespace muster::ucx {
namespace {

// What a rank says before a call, packed: its error's code, the lengths of two texts, and these.
std::string packed(const std::string& what, std::string_view bytes,
                   const std::optional<Error>& local) {
  const std::string error = local ? local->what : std::string();
  const std::uint32_t head[] = {local ? 1U + static_cast<std::uint32_t>(local->code) : 0U,
                                static_cast<std::uint32_t>(what.size()),
                                static_cast<std::uint32_t>(error.size())};
  std::string all(reinterpret_cast<const char*>(head), sizeof head);
  return all.append(what).append(error).append(bytes);
}

struct Said {
  std::optional<Error> error;
  std::string what;
  std::string bytes;
};

Said unpacked(const std::string& all) {
  std::uint32_t head[3] = {};
  if (all.size() < sizeof head) return {};
  std::memcpy(head, all.data(), sizeof head);
  Said said;
  said.what = all.substr(sizeof head, head[1]);
  if (head[0] != 0)
    said.error =
        Error{static_cast<ErrorCode>(head[0] - 1), all.substr(sizeof head + head[1], head[2])};
  said.bytes = all.substr(sizeof head + head[1] + head[2]);
  return said;
}

// Several entries, each behind its length.
void append(std::string& all, const std::string& entry) {
  const auto bytes = static_cast<std::uint64_t>(entry.size());
  all.append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(entry);
}

std::vector<std::string> entries_of(std::string_view all) {
  std::vector<std::string> entries;
  std::uint64_t bytes = 0;
  while (all.size() >= sizeof bytes) {
    std::memcpy(&bytes, all.data(), sizeof bytes);
    all.remove_prefix(sizeof bytes);
    if (bytes > all.size()) break;
    entries.emplace_back(all.substr(0, bytes));
    all.remove_prefix(bytes);
  }
  return entries;
}

}  // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  z ^= z >> 31U;
  return z == 0 ? 1 : z;  // 0 names no team
}

TeamCore::TeamCore(std::shared_ptr<Network> network, std::uint64_t id,
                   std::vector<std::uint32_t> members, std::shared_ptr<TeamCore> parent)
    : network_(std::move(network)),
      parent_(std::move(parent)),
      state_(std::make_shared<TeamState>(id, std::move(members), network_->rank(),
                                         parent_ ? parent_->state_ : nullptr)),
      number_(network_->number_team()),
      known_(std::make_unique<bool[]>(max_teams)) {
  if (parent_) {
    std::copy_n(parent_->known_.get(), max_teams, known_.get());
    ++parent_->children_;
    counted_ = true;
  }
  if (number_ < max_teams) known_[number_] = true;
  network_->enter(state_);
}

TeamCore::~TeamCore() {
  drop();
}

void TeamCore::let_go_of_parent() {
  state_->let_go_of_parent();
  if (counted_) --parent_->children_;
  counted_ = false;
}

void TeamCore::drop() {
  if (closed_) return;
  closed_ = true;
  let_go_of_parent();
  // Of a team that has failed a peer may still have puts under way: the memory stays with the job.
  if (state_->status() == WaitStatus::ok)
    for (const Chunk& chunk : chunks_) network_->segments().remove(chunk.segment);
  chunks_.clear();
  ranges_.clear();
  network_->forget_controls(state_->id());
  if (number_ < max_teams && state_->status() == WaitStatus::ok)
    network_->free_team_number(number_);
}

std::optional<Error> TeamCore::refusal() const {
  if (closed_)
    return Error{ErrorCode::invalid_argument, "the team is closed; nothing works on it any more",
                 state_->rank()};
  if (state_->status() != WaitStatus::ok) return state_->failure();
  return std::nullopt;
}

std::optional<Error> TeamCore::lanes_run(std::string_view what) const {
  if (!lanes_run_.load(std::memory_order_acquire)) return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               fmt::format("{}: lanes of this team are running; it is a set-up call, for outside "
                           "of lanes",
                           what),
               state_->rank()};
}

Error TeamCore::expired(Rank absent) const {
  return {ErrorCode::expired,
          fmt::format("waited {} ms for {} to come to a set-up call, in vain",
                      network_->settings().timeout.count(), state_->called(absent)),
          state_->rank(),
          {},
          absent};
}

// One message of an exchange, which `above` sends.
Result<std::string> TeamCore::hear(const ControlHeader& from, Rank above, bool last) {
  // A state that does not fail, where peers may be gone.
  const TeamState tolerant(0, state_->members(), network_->rank(), nullptr);
  Patience patience(*network_, last ? tolerant : *state_, call_);
  std::uint32_t looks = 0;  // since the sender is gone: what it has sent is at most that far away
  while (true) {
    if (auto came = network_->take_control(from)) return *came;
    const WaitStatus status = patience.turn();
    if (status == WaitStatus::expired) {
      // Those who gave up and those who come late would be a call apart.
      Error error = expired(above);
      network_->fail(
          *state_, WaitStatus::aborted,
          {ErrorCode::aborted, fmt::format("{}: {}", state_->called(state_->rank()), error.what)});
      return error;
    }
    if (status != WaitStatus::ok) return state_->failure();
    if (!last) continue;
    if (state_->status() > WaitStatus::ok && state_->status() != WaitStatus::peer_lost)
      return state_->failure();
    constexpr std::uint32_t enough = 200;
    if (network_->is_lost(state_->job_rank_of(above)) && ++looks > enough) {
      Error error = state_->failure();
      network_->fail(*state_, WaitStatus::peer_lost, error);
      return error;
    }
  }
}

// Bruck's all-gather (IEEE TPDS 8(11), 1997): in round k each rank sends what it has, at most 2^k
// entries, to the rank 2^k below, and hears from the one 2^k above. Entries are numbered from the
// own rank on. Rounds of one exchange have names of their own, so that a rank that is ahead is not
// mistaken.
Result<std::vector<std::string>> TeamCore::exchange(std::string_view own, bool last) {
  const std::uint32_t ranks = state_->size();
  const std::uint32_t self = state_->rank().value;
  ControlHeader header{state_->id(), ++state_->calls, 0, network_->rank()};
  std::vector<std::string> have{std::string(own)};
  for (std::uint32_t far = 1; far < ranks; far *= 2, ++header.round) {
    const std::uint32_t wanted = std::min(far, ranks - far);
    std::string out;
    for (std::uint32_t i = 0; i < wanted; ++i) append(out, have[i]);
    network_->send(state_->job_rank_of(Rank{(self + ranks - far) % ranks}), Message::control,
                   header, out);
    const Rank above{(self + far) % ranks};
    ControlHeader from = header;
    from.from = state_->job_rank_of(above);
    const auto came = hear(from, above, last);
    if (!came) return came.error();
    for (std::string& entry : entries_of(*came)) have.push_back(std::move(entry));
    if (have.size() != far + wanted)
      return Error{ErrorCode::system, "an exchange was cut short", state_->rank(), {}, above};
  }
  std::vector<std::string> all(ranks);
  for (std::uint32_t i = 0; i < ranks; ++i) all[(self + i) % ranks] = std::move(have[i]);
  return all;
}

Result<std::vector<std::string>> TeamCore::agree(const std::string& what, std::string_view bytes,
                                                 const std::optional<Error>& local, bool last) {
  if (auto error = lanes_run(what)) return *error;
  if (auto error = refusal()) return *error;
  const bool inner = call_.begin_call();
  auto all = exchange(packed(what, bytes, local), last);
  call_.end_call(inner);
  if (!all) return all.error();
  if (local) {
    Error own = *local;
    own.rank = state_->rank();
    return own;
  }
  std::vector<std::string> theirs;
  std::optional<Error> wrong;
  for (std::uint32_t rank = 0; rank < all->size(); ++rank) {
    Said said = unpacked((*all)[rank]);
    const std::string who = state_->called(Rank{rank});
    if (!wrong && said.error)
      wrong = Error{ErrorCode::mismatch,
                    fmt::format("{}: {} failed: {}", said.what, who, said.error->what),
                    state_->rank(),
                    {},
                    Rank{rank}};
    if (!wrong && said.what != what)
      wrong = Error{ErrorCode::mismatch,
                    fmt::format("{} called {}, {} called {}; every rank must make the same calls "
                                "in the same order",
                                state_->called(state_->rank()), what, who, said.what),
                    state_->rank(),
                    {},
                    Rank{rank}};
    theirs.push_back(std::move(said.bytes));
  }
  if (wrong) return *wrong;
  return theirs;
}

// Leaving is a barrier that moves the network on: what others have under way to this rank ends.
Result<void> TeamCore::close() {
  if (auto error = lanes_run("close")) return *error;
  if (closed_) return *refusal();
  if (children_.load() != 0)
    return Error{ErrorCode::invalid_argument,
                 "close: a team that was split off this one is open; close it first",
                 state_->rank()};
  if (state_->status() == WaitStatus::ok) {
    if (state_->size() == network_->size()) network_->begin_to_leave();
    const auto agreed = agree("close", {}, {}, true);
    if (!agreed) return agreed.error();
  }
  drop();
  return {};
}

}  // namespace muster::ucx
