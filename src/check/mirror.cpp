#include "check/mirror.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/sites.hpp"

namespace muster::check::engine {

Mirror::Mirror(const Record& original) : original_(original) {
  for (const auto& depositors : original.depositors()) {
    std::vector<Name>& names = names_.emplace_back();
    std::vector<std::uint32_t> made;
    for (const std::uint32_t thread : depositors) {
      if (thread >= made.size()) made.resize(thread + 1);
      names.push_back({thread, made[thread]++});
    }
  }
}

void Mirror::deposited(Execution& run, std::uint32_t cell) {
  if (cell >= here_.size()) here_.resize(cell + 1);
  const Cell& there = run.cell(cell);
  const std::uint32_t thread = there.deposits[there.count - 1].thread;
  if (thread >= here_[cell].size()) here_[cell].resize(thread + 1);
  here_[cell][thread].push_back(there.count - 1);
}

// The deposits of the answer, as they are numbered here; false where one has not come.
bool Mirror::find_set(Execution& run, const Thread& thread, const Answer& answer) {
  const PendingRead& read = thread.read;
  if (answer.look >= read.looks.size() || read.looks[answer.look].cell != answer.cell) return false;
  set_.clear();
  bool all = true;
  answer.set.each([&](std::uint32_t at) {
    const Name name = names_[answer.cell][at];
    const bool is_here = answer.cell < here_.size() && name.thread < here_[answer.cell].size() &&
                         name.number < here_[answer.cell][name.thread].size();
    if (is_here)
      set_.add(here_[answer.cell][name.thread][name.number]);
    else
      all = false;
  });
  const Look& look = read.looks[answer.look];
  return all && look.must.within(set_) &&
         (!waits(read.kind) ||
          satisfies(run.cell(look.cell).value(set_), look.compare, look.value));
}

namespace {

// The write of that event; of none, the initial one.
std::optional<WriteNumber> number_of(const WeakMemory& memory, std::uint32_t location, Stamp made) {
  if (made.epoch == 0) return 0;
  for (const WriteNumber number : memory.order(location))
    if (memory.write_of(location, number).stamp == made) return number;
  return std::nullopt;
}

}  // namespace

// A store lies, among what is there, where it lay at the end.
std::optional<WriteNumber> Mirror::find_write(const Execution& run, const Thread& thread) {
  const AtomicRead& atomic = thread.read.atomic;
  const WeakMemory& memory = run.weak_memory();
  const bool fences = atomic.call == nullptr;
  if (fences || atomic.call->kind == detail::AtomicCall::Kind::store) {
    for (const std::vector<Stamp>& order : original_.orders()) {
      const auto mine = std::find(order.begin(), order.end(), thread.stamp());
      if (mine == order.end() || fences != (&order == &original_.orders().back())) continue;
      const auto before = static_cast<std::uint32_t>(mine - order.begin());
      if (fences)
        return memory.sc_fences() == before ? std::optional<WriteNumber>(0) : std::nullopt;
      for (auto at = mine; at != order.begin();)
        if (const auto number = number_of(memory, atomic.location, *--at)) return number;
    }
    return std::nullopt;
  }
  const auto& answers = original_.answers(thread.id);
  if (next_[thread.id] == answers.size()) return std::nullopt;
  const auto number = number_of(memory, atomic.location, answers[next_[thread.id]].write);
  const auto ways = run.ways_of_atomic(thread, false);
  if (!number || std::find(ways.begin(), ways.end(), *number) == ways.end()) return std::nullopt;
  ++next_[thread.id];
  return number;
}

Decision Mirror::pick(Execution& run) {
  auto& threads = run.threads();
  next_.resize(threads.size());
  for (std::size_t i = threads.size(); i-- > 0;) {
    const Thread& thread = threads[i];
    if (thread.state != ThreadState::reading) continue;
    if (thread.read.kind == ReadKind::atomic) {
      const auto number = find_write(run, thread);
      if (!number) continue;
      return {Decision::Action::take, thread.id, *number, &set_};
    }
    const auto& answers = original_.answers(thread.id);
    if (next_[i] == answers.size()) continue;
    const Answer& answer = answers[next_[i]];
    if (!answer.expires && !find_set(run, thread, answer)) continue;
    ++next_[i];
    if (answer.expires) return {Decision::Action::expire, thread.id, 0, nullptr};
    return {Decision::Action::take, thread.id, answer.look, &set_};
  }
  return {};
}

namespace {

std::string told(const Did* did) {
  if (did == nullptr) return "has ended";
  return fmt::format("is at the {} at {}", did->operation, short_place(did->where));
}

std::string in_words(Execution& run, const Record::Difference& difference) {
  const std::string who = run.name_of_thread(run.threads()[difference.thread]);
  const Did* here = difference.here;
  const Did* there = difference.there;
  if (here != nullptr && there != nullptr && told(here) == told(there))
    return fmt::format("the {} of {} at {} is another one, or sees something else", here->operation,
                       who, short_place(here->where));
  return fmt::format("{} {}, and {} otherwise", who, told(here), told(there));
}

}  // namespace

std::string what_is_undetermined(Execution& run) {
  const Record original = run.recorded();
  const Memory memory = run.memory();
  const auto outcome = run.outcome();
  const Sensitivity sensitivity = run.sensitivity();
  const Groups groups = run.groups();
  Mirror mirror(original);
  run.reverse(true);
  const Ending ending = run.run(mirror);
  run.reverse(false);
  // What is known over all executions is known from those in the usual order.
  run.sensitivity() = sensitivity;
  run.groups() = groups;
  if (run.halted()) return "";  // nothing is known of it
  const char* const how = " when ranks, lanes and threads run in the opposite order";
  if (const auto difference = original.difference(run.recorded()))
    return in_words(run, *difference) + how;
  if (ending != Ending::done || !run.findings().empty() || run.outcome() != outcome)
    return fmt::format("it ends otherwise{}", how);
  const std::string place = run.difference_from(memory);
  return place.empty() ? place : fmt::format("{} holds another value{}", place, how);
}

}  // namespace muster::check::engine
