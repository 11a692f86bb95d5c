#include "litmus/axioms.hpp"

#include <utility>
#include <vector>

#include "litmus/meetings.hpp"

namespace muster::litmus {
namespace {

using Kind = Event::Kind;

class Axioms {
 public:
  Axioms(const Program& program, const Candidate& candidate, std::uint64_t& left,
         Deadline* deadline, const std::function<bool(const Relation&)>& visit)
      : program_(program),
        candidate_(candidate),
        events_(candidate.events),
        left_(left),
        deadline_(deadline),
        visit_(visit),
        po_(events_.size()),
        po_loc_(po_),
        strong_(po_),
        rf_(po_),
        observation_(po_),
        synchronizes_(po_) {}

  bool run() {
    if (events_.size() > Relation::most) return true;
    relate();
    observe();
    if (!meet(program_, candidate_, po_, synchronizes_)) return true;  // a deadlock
    synchronizes_ = synchronizes_ | patterns();
    std::vector<std::pair<std::size_t, std::size_t>> fences;
    Relation order(events_.size());
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = a + 1; b < events_.size(); ++b) {
        if (!events_[a].sc || !events_[b].sc || !strong_.has(a, b)) continue;
        if (po_.has(a, b)) {
          order.add(a, b);
        } else {
          fences.emplace_back(a, b);
        }
      }
    }
    return order_fences(order, fences, 0);
  }

 private:
  void relate() {
    for (std::size_t a = 0; a < events_.size(); ++a) {
      const Event& one = events_[a];
      if (one.kind == Kind::read) rf_.add(one.from, a);
      for (std::size_t b = 0; b < events_.size(); ++b) {
        if (a == b) continue;
        const Event& other = events_[b];
        const bool same_thread = one.thread == other.thread && one.thread != nothing;
        const bool same_place = one.location != nothing && one.location == other.location;
        if (same_thread && a < b) {
          po_.add(a, b);
          if (same_place) po_loc_.add(a, b);
        }
        if (morally_strong(program_, one, other)) strong_.add(a, b);
      }
    }
  }

  // Morally strong reads-from, through read-modify-writes.
  void observe() {
    Relation steps(events_.size());  // from a write to a write, through the read that goes with it
    observation_ = strong_ & rf_;
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = 0; b < events_.size(); ++b) {
        if (observation_.has(a, b) && events_[b].partner != nothing)
          steps.add(a, events_[b].partner);
      }
    }
    observation_ = observation_ | steps.closure().then(observation_);
  }

  // A release pattern begins with a release of the location or a fence, and ends with a strong
  // write; an acquire pattern begins with a strong read, and ends with an acquire of the location
  // or a fence.
  [[nodiscard]] Relation patterns() const {
    Relation release(events_.size());
    Relation acquire(events_.size());
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = 0; b < events_.size(); ++b) {
        const Event& first = events_[a];
        const Event& last = events_[b];
        const bool fence_first = first.kind == Kind::fence && po_.has(a, b);
        const bool fence_last = last.kind == Kind::fence && po_.has(a, b);
        const bool one_place = a == b || po_loc_.has(a, b);
        if (last.kind == Kind::write && last.strong &&
            (fence_first || (first.kind == Kind::write && first.release && one_place)))
          release.add(a, b);
        if (first.kind == Kind::read && first.strong &&
            (fence_last || (last.kind == Kind::read && last.acquire && one_place)))
          acquire.add(a, b);
      }
    }
    return strong_ & release.then(observation_).then(acquire);
  }

  // Every way of ordering the pairs of morally strong fence.sc.
  bool order_fences(const Relation& order,
                    const std::vector<std::pair<std::size_t, std::size_t>>& pairs, std::size_t at) {
    if (is_over()) return false;
    if (!order.acyclic()) return take_one();
    if (at == pairs.size()) return judge(order);
    const auto [a, b] = pairs[at];
    for (const bool forward : {true, false}) {
      Relation more = order;
      more.add(forward ? a : b, forward ? b : a);
      if (!order_fences(more, pairs, at + 1)) return false;
    }
    return true;
  }

  bool judge(const Relation& fences) {
    // Base causality: synchronization, at least once, with program order around it.
    const Relation base = synchronizes_ | fences;
    const Relation chain = (base | base.then(po_)).closure();
    const Relation causality = chain | po_.then(chain);
    const Relation cause = causality | observation_.then(causality | po_loc_);
    if (!fences.then(cause).irreflexive()) return true;  // Fence-SC
    if (!rf_.then(cause).irreflexive()) return true;     // Causality: no read from what it causes
    // Coherence: of two writes to a location, the one that causes the other comes first; initial
    // writes come before all.
    Relation coherence(events_.size());
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = 0; b < events_.size(); ++b) {
        if (!two_writes(a, b)) continue;
        const bool initial = events_[a].thread == nothing && events_[b].thread != nothing;
        if (initial || cause.has(a, b) || po_loc_.has(a, b)) coherence.add(a, b);
      }
    }
    return order_writes(coherence.closure(), cause);
  }

  [[nodiscard]] bool two_writes(std::size_t a, std::size_t b) const {
    return events_[a].kind == Kind::write && events_[b].kind == Kind::write &&
           events_[a].location == events_[b].location;
  }

  // Every way of ordering the morally strong writes that are not ordered yet.
  bool order_writes(const Relation& coherence, const Relation& cause) {
    if (is_over()) return false;
    if (!coherence.irreflexive()) return take_one();
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = a + 1; b < events_.size(); ++b) {
        if (!two_writes(a, b) || !strong_.has(a, b) || coherence.has(a, b) || coherence.has(b, a))
          continue;
        for (const bool forward : {true, false}) {
          Relation more = coherence;
          more.add(forward ? a : b, forward ? b : a);
          if (!order_writes(more.closure(), cause)) return false;
        }
        return true;
      }
    }
    --left_;
    return !satisfied(coherence, cause) || visit_(coherence);
  }

  [[nodiscard]] bool is_over() const {
    return left_ == 0 || (deadline_ != nullptr && deadline_->is_over());
  }

  bool take_one() {
    --left_;
    return true;
  }

  [[nodiscard]] bool satisfied(const Relation& coherence, const Relation& cause) const {
    const Relation from_read = rf_.inverse().then(coherence);
    if (!from_read.then(cause).irreflexive()) return false;  // Causality
    const Relation communication = strong_ & (rf_ | coherence | from_read);
    if (!(communication | po_loc_).acyclic()) return false;  // SC per location
    // Atomicity: nothing morally strong between the halves of a read-modify-write.
    const Relation between = (strong_ & from_read).then(strong_ & coherence);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].kind == Kind::read && events_[i].partner != nothing &&
          between.has(i, events_[i].partner))
        return false;
    }
    return true;
  }

  const Program& program_;
  const Candidate& candidate_;
  const std::vector<Event>& events_;
  std::uint64_t& left_;
  Deadline* deadline_;  // or none
  const std::function<bool(const Relation&)>& visit_;
  Relation po_;            // program order
  Relation po_loc_;        // of accesses to one location
  Relation strong_;        // morally strong
  Relation rf_;            // reads-from
  Relation observation_;   // of a write by a read
  Relation synchronizes_;  // by patterns and barriers; fence.sc aside
};

}  // namespace

bool for_each_coherence(const Program& program, const Candidate& candidate, std::uint64_t& left,
                        const std::function<bool(const Relation& coherence)>& visit,
                        Deadline* deadline) {
  return Axioms(program, candidate, left, deadline, visit).run();
}

}  // namespace muster::litmus
