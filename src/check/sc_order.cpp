#include "check/sc_order.hpp"

#include "check/mutant.hpp"

namespace muster::check::engine {

// In program order; or with a step of a's thread behind a that happens before one of b's before b:
// what an acquire and a release that are not seq_cst themselves order is not in the order of all.
bool ScOrder::strongly_before(const ScEvent& a, const ScEvent& b) const {
  if (a.by.thread == b.by.thread) return a.stamp.epoch < b.stamp.epoch;
  return b.before.at(a.stamp.component) > a.stamp.epoch;
}

std::vector<std::uint32_t> ScOrder::up_to(const ScEvent& access) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t at = 0; at < events_.size(); ++at) {
    const ScEvent& other = events_[at];
    const bool fence = other.is_fence && access.after.has(other.stamp);
    if (other.by.sc && (&other == &access || fence)) all.push_back(at);
  }
  return all;
}

std::vector<std::uint32_t> ScOrder::from(const ScEvent& access) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t at = 0; at < events_.size(); ++at) {
    const ScEvent& other = events_[at];
    const bool fence = other.is_fence && other.after.has(access.stamp);
    if (other.by.sc && (&other == &access || fence)) all.push_back(at);
  }
  return all;
}

bool ScOrder::exists(const WeakMemory& memory) const {
  const std::size_t n = events_.size();
  if (mutant("atomic-sc-without-order")) return true;
  std::vector<Bits> after(n);
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = 0; b < n; ++b) {
      const ScEvent& one = events_[a];
      const ScEvent& other = events_[b];
      if (a == b) continue;
      if (one.by.sc && other.by.sc && strongly_before(one, other)) after[a].add(b);
      if (one.is_fence || other.is_fence || !memory.comes_before(one.touched, other.touched))
        continue;
      const std::vector<std::uint32_t> targets = from(other);
      for (const std::uint32_t source : up_to(one))
        for (const std::uint32_t target : targets)
          if (source != target && memory.morally_strong(events_[source].by, events_[target].by))
            after[source].add(target);
    }
  for (std::uint32_t through = 0; through < n; ++through)
    for (std::uint32_t a = 0; a < n; ++a)
      if (after[a].has(through)) after[a].add(after[through]);
  for (std::uint32_t a = 0; a < n; ++a)
    if (after[a].has(a)) return false;
  return true;
}

}  // namespace muster::check::engine
