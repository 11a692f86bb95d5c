// The axioms of C++20's memory model ([intro.races], [atomics.order], [atomics.fences]) on
// candidate executions of a litmus program, without load buffering: what the checker's atomic
// objects are held against. It shares nothing with them. Orders are those of Instruction; all
// scopes are one.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "litmus/candidate.hpp"
#include "litmus/program.hpp"
#include "litmus/relation.hpp"

namespace muster::litmus {

// What a program can end with: the final value of each location, then the registers of each thread.
using Outcomes = std::set<std::vector<std::uint64_t>>;

class CppAxioms {
 public:
  CppAxioms(const Candidate& candidate, Outcomes& outcomes)
      : candidate_(candidate),
        events_(candidate.events),
        n_(events_.size()),
        sb_(n_),
        rf_(n_),
        hb_(n_),
        outcomes_(outcomes) {}

  void run() {
    for (std::size_t b = 0; b < n_; ++b) {
      if (reads(b)) rf_.add(events_[b].from, b);
      for (std::size_t a = 0; a < b; ++a)
        if (events_[a].thread != nothing && events_[a].thread == events_[b].thread) sb_.add(a, b);
    }
    if (!(sb_ | rf_).acyclic()) return;  // load buffering
    hb_ = sb_;
    for (std::size_t b = 0; b < n_; ++b)
      if (reads(b)) synchronize(b);
    hb_ = hb_.closure();
    std::vector<std::vector<std::size_t>> orders;
    for (std::size_t i = 0; i < n_; ++i)
      if (events_[i].thread == nothing) orders.push_back({i});
    order(orders, 0);
  }

 private:
  using Kind = Event::Kind;
  [[nodiscard]] bool reads(std::size_t i) const { return events_[i].kind == Kind::read; }
  [[nodiscard]] bool writes(std::size_t i) const { return events_[i].kind == Kind::write; }
  [[nodiscard]] Order of(std::size_t i) const {
    return events_[i].instruction == nullptr ? Order::relaxed : events_[i].instruction->order;
  }
  [[nodiscard]] bool sc(std::size_t i) const { return of(i) == Order::sc; }
  [[nodiscard]] bool releases(std::size_t i) const {
    return !reads(i) && (sc(i) || of(i) == Order::release || of(i) == Order::acq_rel);
  }
  [[nodiscard]] bool acquires(std::size_t i) const {
    return !writes(i) && (sc(i) || of(i) == Order::acquire || of(i) == Order::acq_rel);
  }
  [[nodiscard]] std::size_t operation(std::size_t i) const {
    const std::size_t partner = events_[i].partner;
    return partner == nothing ? i : std::min(i, partner);
  }

  // Whatever heads a release sequence that the read takes its value from.
  void synchronize(std::size_t read) {
    for (std::size_t head = events_[read].from; events_[head].thread != nothing;) {
      for (std::size_t from = 0; from < n_; ++from) {
        const bool fence = events_[from].kind == Kind::fence && sb_.has(from, head);
        if (!releases(from) || (from != head && !fence)) continue;
        for (std::size_t to = 0; to < n_; ++to) {
          const bool behind = events_[to].kind == Kind::fence && sb_.has(read, to);
          if (acquires(to) && (to == read || behind)) hb_.add(from, to);
        }
      }
      if (events_[head].partner == nothing) return;
      head = events_[events_[head].partner].from;
    }
  }

  // Every modification order of each location; a read-modify-write lies behind what it has read.
  void order(std::vector<std::vector<std::size_t>>& orders, std::size_t event) {
    while (event < n_ && (!writes(event) || events_[event].thread == nothing)) ++event;
    if (event == n_) return judge(orders);
    std::vector<std::size_t>& mine = orders[events_[event].location];
    for (std::size_t at = 1; at <= mine.size(); ++at) {
      mine.insert(mine.begin() + static_cast<std::ptrdiff_t>(at), event);
      order(orders, event + 1);
      mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  void judge(const std::vector<std::vector<std::size_t>>& orders) {
    std::vector<std::size_t> place(n_);
    Relation mo(n_);
    for (const auto& one : orders)
      for (std::size_t i = 0; i < one.size(); ++i) {
        place[one[i]] = i;
        for (std::size_t j = 0; j < i; ++j) mo.add(one[j], one[i]);
      }
    for (std::size_t i = 0; i < n_; ++i)
      if (writes(i) && events_[i].partner != nothing &&
          place[i] != place[events_[events_[i].partner].from] + 1)
        return;
    const Relation from_read = rf_.inverse().then(mo);
    const Relation eco = (rf_ | mo | from_read).closure();
    if (!hb_.irreflexive() || !hb_.then(eco).irreflexive()) return;
    if (!has_sc_order(eco)) return;
    std::vector<std::uint64_t> outcome;
    for (const auto& one : orders) outcome.push_back(*candidate_.value(events_[one.back()].value));
    for (const Strand& strand : candidate_.strands)
      for (const std::size_t reg : strand.registers) outcome.push_back(*candidate_.value(reg));
    outcomes_.insert(outcome);
  }

  // [atomics.order], 4. A read-modify-write is one operation.
  [[nodiscard]] bool has_sc_order(const Relation& eco) const {
    Relation sb(n_);  // of operations
    Relation hb(n_);
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = 0; b < n_; ++b) {
        const std::size_t from = operation(a);
        const std::size_t to = operation(b);
        if (from == to) continue;
        if (sb_.has(a, b)) sb.add(from, to);
        if (hb_.has(a, b)) hb.add(from, to);
      }
    const Relation strongly = sb | sb.then(hb).then(sb);
    Relation order(n_);
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = 0; b < n_; ++b) {
        if (sc(a) && sc(b) && strongly.has(operation(a), operation(b)))
          order.add(operation(a), operation(b));
        if (!eco.has(a, b) || operation(a) == operation(b)) continue;
        for (const std::size_t from : ends(a, true))
          for (const std::size_t to : ends(b, false))
            if (from != to) order.add(from, to);
      }
    return order.acyclic();
  }

  // The access itself, where it is seq_cst, and the fences that happen before (after) it.
  [[nodiscard]] std::vector<std::size_t> ends(std::size_t access, bool before) const {
    std::vector<std::size_t> all;
    if (sc(access)) all.push_back(operation(access));
    for (std::size_t fence = 0; fence < n_; ++fence)
      if (events_[fence].kind == Kind::fence && sc(fence) &&
          (before ? hb_.has(fence, access) : hb_.has(access, fence)))
        all.push_back(fence);
    return all;
  }

  const Candidate& candidate_;
  const std::vector<Event>& events_;
  std::size_t n_;
  Relation sb_;
  Relation rf_;
  Relation hb_;
  Outcomes& outcomes_;
};

}  // namespace muster::litmus
