// What is wrong with an execution: findings, and the judgement of its end.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/compare.hpp"
#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

void Execution::found(Thread& self, Kind kind, std::string what, std::string missing,
                      std::string location, const Clock* also, std::vector<MissingEdge> edges) {
  Clock past = self.cause;
  if (also != nullptr) past.join(*also);
  found_in(past, self, kind, std::move(what), std::move(missing), std::move(location),
           std::move(edges));
}

MissingEdge Execution::edge(std::optional<std::uint32_t> rank, std::size_t from,
                            const Thread& to) const {
  MissingEdge missing;
  missing.rank = rank;
  if (from != Trace::none) missing.from = from;
  missing.to = trace_.last_of(to.id);
  return missing;
}

void Execution::found_in(const Clock& past, Thread& self, Kind kind, std::string what,
                         std::string missing, std::string location,
                         std::vector<MissingEdge> edges) {
  if (fibers_.unwinding() || !findings_.has_room_for(kind)) return;
  // On sc, errors that only a weaker memory explains are none.
  if (options_.profile == Profile::sc && !explained_by_one_order()) {
    unexplained_ = true;
    return;
  }
  // Ranks that miss each other may be running different numbers of lanes.
  if (kind == Kind::deadlock || kind == Kind::divergence || kind == Kind::stale_pass)
    if (const std::string lanes = launches_.difference(); !lanes.empty()) what += "; " + lanes;
  Finding finding;
  finding.kind = kind;
  finding.what = std::move(what);
  finding.missing = std::move(missing);
  finding.location = std::move(location);
  finding.rank = self.rank;
  finding.lane = self.lane;
  if (tracing()) finding.edges = std::move(edges);
  std::erase_if(finding.edges, [](const MissingEdge& edge) { return edge.to == Trace::none; });
  if (!findings_.add(std::move(finding), past) || !tracing()) return;
  trace_.add({.thread = self.id,
              .epoch = self.epoch(),
              .what = fmt::format("** {} **", name_of(kind)),
              .where = self.where,
              .fails = true},
             self.hb);
}

std::string Execution::name_of_thread(const Thread& thread) const {
  std::string name = fmt::format("rank {}", thread.rank);
  if (thread.is_setup) return name + " (set-up)";
  if (thread.is_task) return fmt::format("{} task \"{}\"", name, thread.task);
  if (options_.lanes > 1) name += fmt::format(" lane {}", thread.lane);
  if (options_.threads > 1) name += fmt::format(" thread {}", thread.index);
  if (threads_.kernels_overlap()) name += fmt::format(" in kernel {}", thread.kernel + 1);
  return name;
}

namespace {

// How many deposits a wait for a sum of ones lacks: ", 2 more of 1 are missing".
std::string what_is_missing(const Cell& cell, const Look& look) {
  if (look.compare != Compare::ge || cell.count == 0) return "";
  for (std::uint32_t at = 0; at < cell.count; ++at) {
    const Deposit& deposit = cell.deposits[at];
    if (deposit.op != NotifyOp::add || deposit.value != 1 || deposit.flips) return "";
  }
  return fmt::format(", {} more of 1 are missing",
                     static_cast<std::int32_t>(look.value - cell.value(cell.all())));
}

}  // namespace

// "atomic 0 of ticket_lock.hpp:12, which is 3, written last by rank 1 (has ended)"
std::string Execution::describe_atomic(const Thread& thread) const {
  const AtomicRead& atomic = thread.read.atomic;
  const Object& object = objects_[atomic.object];
  const WriteNumber last = weak_.last(atomic.location);
  std::string text = fmt::format("{}, which it sees as {}", objects_.name_of(object),
                                 signed_of(object, atomic.found));
  if (last == 0) return text + ", its initial value: nobody has written it";
  const Thread& writer = threads_[weak_.write_of(atomic.location, last).by.thread];
  text += fmt::format(", written last by {} ({})", name_of_thread(writer),
                      short_place(object.writes[last].where));
  if (writer.id == thread.id) return text;
  if (writer.state == ThreadState::reading) text += " (blocked itself)";
  if (writer.state == ThreadState::absent || writer.state == ThreadState::done)
    text += " (has ended)";
  return text;
}

std::string Execution::describe_read(const Thread& thread) const {
  const PendingRead& read = thread.read;
  if (read.kind == ReadKind::atomic) return describe_atomic(thread);
  std::string text;
  for (const Look& look : read.looks) {
    const Cell& cell = cells_[look.cell];
    const auto full = static_cast<std::int32_t>(cell.value(cell.all()));
    if (!text.empty()) text += " or ";
    text += fmt::format("{} {} {} (it is {}{})", name_of_cell(cell), symbol_of(look.compare),
                        static_cast<std::int32_t>(look.value), full, what_is_missing(cell, look));
    std::set<std::uint32_t> writers;
    for (std::uint32_t at = 0; at < cell.count; ++at)
      if (cell.deposits[at].thread != thread.id) writers.insert(cell.deposits[at].thread);
    if (writers.empty()) {
      text += cell.count == 0 ? ", nobody has written it" : ", nobody else has written it";
    } else {
      text += ", written so far by";
      for (const std::uint32_t writer : writers) {
        const Thread& other = threads_[writer];
        text += fmt::format(" {}", name_of_thread(other));
        if (other.state == ThreadState::reading) text += " (blocked itself)";
        if (other.state == ThreadState::absent || other.state == ThreadState::done)
          text += " (has ended)";
      }
    }
  }
  return text;
}

// Nothing can go on: why?
Ending Execution::judge_stuck() {
  for (const Thread& thread : threads_)
    if (thread.state == ThreadState::reading && satisfied_in_full(thread) &&
        !mutant("dropped-as-deadlock"))
      return Ending::dropped;
  if (mutant("deadlock-as-done")) return Ending::done;
  if (options_.profile == Profile::sc && !explained_by_one_order()) {
    unexplained_ = true;
    return Ending::dropped;
  }
  judge_take_backs();
  report_divergence();
  report_deadlock();
  return Ending::stuck;
}

// Did a cell hold, between two of its deposits, what the blocked thread waits for?
bool Execution::was_there(const Thread& thread) const {
  for (const Look& look : thread.read.looks) {
    const Cell& cell = cells_[look.cell];
    Bits prefix;
    for (std::uint32_t at = 0; at < cell.count; ++at) {
      if (at >= 1 && satisfies(cell.value(prefix), look.compare, look.value)) return true;
      prefix.add(at);
    }
  }
  return false;
}

// A thread at a meeting of its lane, or of a part of it, that one of those is not coming to: it is
// blocked in another part.
void Execution::report_other_meeting(Thread& thread) {
  const auto named = [&](LaneThreads some) {
    return some == threads_.of_lane(thread)
               ? std::string("of its lane")
               : fmt::format("of threads {} to {} of its lane", threads_[some.first].index,
                             threads_[some.first].index + some.count - 1);
  };
  for (const Thread& other : threads_.at(thread.together)) {
    const bool same = other.together == thread.together;
    if (same && other.state == ThreadState::meeting && other.id < thread.id) return;  // told
    const bool blocked = other.state == ThreadState::meeting || other.state == ThreadState::reading;
    if (!blocked || same || mutant("divergence-unseen")) continue;
    found(thread, Kind::divergence,
          fmt::format("{} is at a {} {} ({}) that {} does not come to: it is at an operation {} "
                      "({})",
                      name_of_thread(thread), thread.meeting_kind, named(thread.together),
                      short_place(thread.where), name_of_thread(other), named(other.together),
                      short_place(other.where)),
          "a part of a lane meets by its own converge; the lane's is for all its threads, once "
          "they are out of their parts",
          name_of_thread(thread));
    return;
  }
}

void Execution::report_divergence() {
  for (Thread& thread : threads_) {
    if (thread.state == ThreadState::meeting) {
      report_other_meeting(thread);
      for (const Thread& other : threads_)
        if (!mutant("divergence-unseen") && threads_.of_lane(thread).has(other.id) &&
            other.state == ThreadState::absent)
          found(thread, Kind::divergence,
                fmt::format("{} is at a {} ({}) that {} never reaches: it has returned",
                            name_of_thread(thread), thread.meeting_kind, short_place(thread.where),
                            name_of_thread(other)),
                "every thread of a lane must reach every converge", name_of_thread(thread));
    }
    if (thread.state == ThreadState::setup) {
      for (const Thread& other : threads_)
        if (other.is_setup && other.state == ThreadState::done)
          found(thread, Kind::divergence,
                fmt::format("rank {} is at {} that rank {} never calls: it has returned",
                            thread.rank, setup_calls_.what(thread.setup_calls - 1), other.rank),
                "every rank makes the same set-up calls in the same order",
                fmt::format("rank {}", thread.rank));
    }
  }
}

// What blocked threads wait for is no step that they have made: it becomes one here.
void Execution::note_blocked() {
  for (const Thread& thread : threads_) {
    if (thread.state != ThreadState::reading) continue;
    std::string text;
    if (thread.read.kind == ReadKind::atomic) {
      note(thread, thread.read.where, "polls for ever: " + describe_atomic(thread));
      continue;
    }
    for (const Look& look : thread.read.looks)
      text += fmt::format("{}{} {} {}", text.empty() ? "" : " or ", name_of_cell(cells_[look.cell]),
                          symbol_of(look.compare), static_cast<std::int32_t>(look.value));
    note(thread, thread.read.where, fmt::format("waits for ever: {}", text));
  }
}

// The deposit would come from who has written the cell before, if anybody has, after what it has
// done last.
std::vector<MissingEdge> Execution::edges_to_blocked() const {
  std::vector<MissingEdge> edges;
  for (const Thread& thread : threads_) {
    if (thread.state != ThreadState::reading) continue;
    std::set<std::uint32_t> writers;
    if (thread.read.kind == ReadKind::atomic)
      for (const WriteNumber number : weak_.order(thread.read.atomic.location))
        if (const std::uint32_t by = weak_.write_of(thread.read.atomic.location, number).by.thread;
            by != thread.id && by != MemoryAccess::nobody)
          writers.insert(by);
    for (const Look& look : thread.read.looks) {
      const Cell& cell = cells_[look.cell];
      for (std::uint32_t at = 0; at < cell.count; ++at)
        if (cell.deposits[at].thread != thread.id) writers.insert(cell.deposits[at].thread);
    }
    for (const std::uint32_t writer : writers)
      edges.push_back(edge(threads_[writer].rank, trace_.last_of(writer), thread));
    if (writers.empty()) edges.push_back(edge({}, Trace::none, thread));
  }
  return edges;
}

void Execution::report_deadlock() {
  std::string all;
  Thread* first = nullptr;
  bool missed = false;
  Clock past;
  for (Thread& thread : threads_)
    if (thread.state == ThreadState::reading) {
      if (first == nullptr) first = &thread;
      missed = missed || was_there(thread);
      past.join(thread.cause);
      const bool polls = thread.read.kind == ReadKind::atomic;
      all += fmt::format("{}{} {} ({}) {}{}", all.empty() ? "" : "; ", name_of_thread(thread),
                         polls ? "polls" : "waits", short_place(thread.read.where),
                         polls ? "" : "for ", describe_read(thread));
    }
  if (first == nullptr) return;
  const std::string starved = tasks_.starved();
  if (!starved.empty()) all += "; " + starved;
  if (tracing()) note_blocked();
  found(
      *first, Kind::deadlock, "every thread that is left is blocked: " + all,
      !starved.empty()
          ? "a wait that blocks holds its worker: let a waiter wait, on which the task depends, or "
            "have more workers than tasks that wait"
      : missed ? "what one of these waits wants was there, and has passed: a value that comes and "
                 "goes may be missed"
               : "what these wait for is never written",
      "", &past, edges_to_blocked());
}

// The promises that hold at the end of a whole execution.
void Execution::judge_end() {
  for (std::uint32_t number = 0; number < cells_.numbers(); ++number)
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
      const Cell& cell = cells_.at(rank, number);
      Thread& setup = threads_.setup(rank);
      const std::uint32_t value = cell.value(cell.all());
      if (cell.promised_zero && value != 0 && !mutant("left-over-unseen"))
        found(setup, Kind::credits,
              fmt::format("{} is {} at the end, where the protocol promises zero",
                          name_of_cell(cell), static_cast<std::int32_t>(value)),
              "what was deposited is not taken back, or more than that", name_of_cell(cell));
    }
  judge_take_backs();
}

}  // namespace muster::check::engine
