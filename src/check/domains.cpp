// Read-modify-writes of one word from two atomicity domains.
//
// An add, a fetched operation or a remote_add is atomic towards others of its domain: instructions
// of one host, of the GPUs that reach each other, operations of a network adapter. Towards another
// domain it may be a read and then a write, between which the other's update is lost: a GPU's
// atomics on host memory where the link carries none (the device attribute
// hostNativeAtomicSupported, CUDA C++ Programming Guide), those of an adapter beside a processor's
// or a GPU's (IBV_ATOMIC_HCA, ibv_query_device(3)). Where one of the two is known to have been made
// before the other begins, nothing is lost: so pairs are judged as races are, by what happens
// before, and in every other execution of a certified protocol more does.
#include <fmt/format.h>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
constexpr std::uint64_t rank_of_its_own = 1ULL << 32U;  // beyond the numbers of GPUs
constexpr std::uint64_t the_host = 1ULL << 33U;
constexpr std::uint64_t an_adapter = 1ULL << 34U;
}  // namespace

Places::Places(const Placement& placement, std::uint32_t ranks, std::uint32_t lanes)
    : lanes_(lanes), any_(!placement.empty()), all_(std::size_t{ranks} * lanes) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      Place& place = all_[std::size_t{rank} * lanes + lane];
      place = {Domain::gpu, rank_of_its_own + rank, false};
      for (const Placed& placed : placement) {
        if (placed.rank.value_or(rank) != rank || placed.lane.value_or(lane) != lane) continue;
        place = {placed.domain, placed.gpu.value_or(rank_of_its_own + rank),
                 placed.gpu.has_value()};
        if (placed.domain == Domain::host) place.device = the_host;
        if (placed.domain == Domain::nic) place.device = an_adapter + rank;
      }
    }
}

std::string Places::name_of(const Thread& thread) const {
  const Place& place = at(thread);
  switch (place.domain) {
    case Domain::host: return "the host";
    case Domain::gpu:
      return place.numbered ? fmt::format("GPU {}", place.device) : "a GPU of its own";
    case Domain::nic: return "the network adapter";
  }
  return "?";
}

const char* Places::not_atomic(const Thread& a, const Thread& b) const {
  if (at(a).domain == Domain::nic || at(b).domain == Domain::nic)
    return "a network whose adapter's atomics are so towards each other alone (IBV_ATOMIC_HCA)";
  return "a GPU whose link to the host carries no atomics (hostNativeAtomicSupported is 0)";
}

namespace {
bool modifies(const Deposit& deposit) {
  return deposit.fetched || (deposit.op == NotifyOp::add && !deposit.flips);
}
}  // namespace

void Execution::check_domain(Thread& self, const Cell& cell, const Deposit& made) {
  if (!places_.any() || !modifies(made)) return;
  for (std::uint32_t at = 0; at + 1 < cell.count; ++at) {
    const Deposit& other = cell.deposits[at];
    const Thread& who = threads_[other.thread];
    if (modifies(other) && !made.before.has(at) && !places_.same_domain(self, who))
      return found_domain(self, name_of_cell(cell), who, short_place(other.where), &other.cause,
                          other.step);
  }
  for (const IdleWrite& idle : cell.idle_writes) {
    const Thread& who = threads_[idle.stamp.component];
    if (!self.hb.has(idle.stamp) && !places_.same_domain(self, who))
      return found_domain(self, name_of_cell(cell), who, short_place(idle.where), &idle.cause,
                          Trace::none);
  }
}

// A fetched operation that writes what it has found.
void Execution::check_domain(Thread& self, const Cell& cell, const Bits& known) {
  if (!places_.any()) return;
  for (std::uint32_t at = 0; at < cell.count; ++at) {
    const Deposit& other = cell.deposits[at];
    const Thread& who = threads_[other.thread];
    if (modifies(other) && !known.has(at) && !places_.same_domain(self, who))
      return found_domain(self, name_of_cell(cell), who, short_place(other.where), &other.cause,
                          other.step);
  }
}

// A remote_add to these grains.
void Execution::check_domain(Thread& self, const std::vector<Shadow>& shadows,
                             const History::Touch& touch) {
  if (!places_.any() || touch.access != model::Access::remote_add) return;
  for (std::uint64_t at = touch.first; at < touch.last; ++at)
    for (const Stamp& add : shadows[at].adds) {
      const Thread& who = threads_[clocks_.issuer_of(add)];
      if (self.hb.has(add) || places_.same_domain(self, who)) continue;
      const auto use = history_.use(add, touch.rank, touch.segment, at, touch.access);
      Clock past;
      past.raise(clocks_.event_of(add));
      return found_domain(self, windows_.location(touch.segment, at, touch.rank), who,
                          use ? short_place(use->where) : "", &past, use ? use->step : Trace::none);
    }
}

void Execution::found_domain(Thread& self, const std::string& what, const Thread& other,
                             const std::string& theirs, const Clock* also, std::size_t step) {
  if (mutant("domain-unseen")) return;
  found(self, Kind::domain,
        fmt::format("{} is changed by {} on {} ({}) and by {} on {} ({}), unordered: on {} one of "
                    "the two may be lost",
                    what, name_of_thread(self), places_.name_of(self), short_place(self.where),
                    name_of_thread(other), places_.name_of(other), theirs,
                    places_.not_atomic(self, other)),
        "one carrier serves a word: all that change it by what they find there are on the host, on "
        "GPUs, or are made by the adapter; or a word for each side",
        what, also, {edge(other.rank, step, self)});
}

}  // namespace muster::check::engine
