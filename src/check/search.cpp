#include "check/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "check/closed_sets.hpp"
#include "check/mutant.hpp"

namespace muster::check::engine {

namespace {

constexpr std::size_t most_choices = 20'000;  // of one read; beyond, the verdict is bounded

Condition condition_of(const Look& look) {
  return {{}, look.compare, look.value};
}

// wait_any looks at its cells in order: it answers with `which` only where none before it must
// hold.
bool reachable(Execution& run, const PendingRead& read, std::size_t which) {
  for (std::size_t i = 0; i < which; ++i) {
    const Look& look = read.looks[i];
    if (satisfies(run.cell(look.cell).value(look.must), look.compare, look.value)) return false;
  }
  return true;
}

}  // namespace

std::vector<Node::Choice> ways(Execution& run, const Thread& thread, bool all, std::size_t limit,
                               bool& cut) {
  std::vector<Node::Choice> choices;
  const PendingRead& read = thread.read;
  if (read.kind == ReadKind::atomic) {
    for (const WriteNumber number : run.ways_of_atomic(thread, true))
      choices.push_back({number, {}});
    return choices;
  }
  for (std::uint32_t i = 0; i < read.looks.size(); ++i) {
    if (!reachable(run, read, i)) break;
    const Look& look = read.looks[i];
    const Cell& cell = run.cell(look.cell);
    SetQuery query;
    query.cell = &cell;
    query.must = look.must;
    query.among = cell.all();
    if (waits(read.kind)) query.condition = condition_of(look);
    if (read.kind == ReadKind::fetch) query.fetch = read.fetch;
    query.newer = look.newer;
    query.minimal = !all;
    query.chain = all;
    query.limit = limit;
    query.patience = &run.patience();
    SetAnswer answer = closed_sets(query);
    cut = cut || answer.cut;
    for (Bits& set : answer.sets) {
      if (read.again && i == read.index && set == look.must) continue;  // nothing new
      choices.push_back({i, std::move(set)});
    }
  }
  return choices;
}

bool Search::sensitive(Execution& run, const Thread& thread, const Look& look) {
  if (run.is_exact_sc() || thread.read.kind != ReadKind::wait) return true;
  if (mutant("search-all-cells-monotone")) return false;
  return run.sensitivity().has(run.cell(look.cell));
}

void Search::choices_of(Execution& run, Thread& thread, Node& node) {
  node.thread = thread.id;
  node.epoch = thread.epoch();
  if (thread.read.kind == ReadKind::atomic) {
    bool cut = false;
    node.choices = ways(run, thread, true, most_choices, cut);
    if (thread.read.may_spin && !probe_) node.choices.push_back({0, {}, true});
    node.cell = ~0U;
    // A store finds its place among what is there: what comes later finds its own.
    node.always_later = thread.read.atomic.call == nullptr ||
                        thread.read.atomic.call->kind != detail::AtomicCall::Kind::store;
    return;
  }
  const Look& first = thread.read.looks[0];
  const bool all = sensitive(run, thread, first);
  node.always_later = all;
  node.cell = first.cell;
  node.must = first.must;
  node.condition = condition_of(first);
  bool cut = false;
  node.choices = ways(run, thread, all, probe_ ? 1 : most_choices, cut);
  cut_ = cut_ || (cut && !probe_);
  if (thread.read.may_spin && !probe_) node.choices.push_back({0, {}, true});
  node.may_expire = !thread.read.expiry_offered && run.expired() < run.options().expire &&
                    waits(thread.read.kind);
  thread.read.expiry_offered = true;
}

namespace {
void put_off(Execution& run, Thread& thread) {
  thread.read.put_off = true;
  AtomicRead& atomic = thread.read.atomic;
  if (thread.read.kind == ReadKind::atomic)
    atomic.newer = atomic.seen_count = run.came_to_atomic(thread);
  for (Look& look : thread.read.looks) look.newer = look.seen_count = run.cell(look.cell).count;
}
}  // namespace

Decision Search::pick(Execution& run) {
  run_ = &run;
  for (Thread& thread : run.threads()) {
    if (!run.awaits_decision(thread)) continue;
    ++visits_;
    if (depth_ == stack_.size()) {
      Node node;
      node.visit = visits_;
      choices_of(run, thread, node);
      if (node.choices.empty() && !node.may_expire) {
        put_off(run, thread);  // it must wait for more in any case: nothing to decide
        continue;
      }
      if (node.choices.empty()) node.always_later = true;
      if (depth_ < forced_.size()) force(node);
      stack_.push_back(std::move(node));
    } else if (stack_[depth_].visit != visits_) {
      // Only reads without choices come before the one that was decided here.
      put_off(run, thread);
      continue;
    } else if (leads_elsewhere(run, thread, stack_[depth_])) {
      return {Decision::Action::leave, thread.id, 0, nullptr};
    } else {
      thread.read.expiry_offered = true;
    }
    const Node& node = stack_[depth_++];
    if (node.at < node.choices.size()) {
      const Node::Choice& choice = node.choices[node.at];
      if (choice.again) return {Decision::Action::again, thread.id, 0, nullptr};
      return {Decision::Action::take, thread.id, choice.look, &choice.set};
    }
    if (node.at > node.choices.size() && node.may_expire)
      return {Decision::Action::expire, thread.id, 0, nullptr};
    put_off(run, thread);
  }
  // Once a wait has expired, those that are stuck expire as well, and the way goes on from there.
  if (!arrived() && !run.polls().seen() && run.expired() == 0)
    return {Decision::Action::leave, 0, 0, nullptr};
  return {};
}

// A node each time, also where there is one way: the paths of replays are numbered by them.
std::uint32_t Search::choose(Execution& run, const std::vector<std::uint32_t>& among,
                             std::uint32_t count) {
  run_ = &run;
  ++visits_;
  if (depth_ == stack_.size()) {
    Node node;
    node.visit = visits_;
    node.starts = among;
    node.always_later = true;  // no deposit is of use to it
    node.at = depth_ < forced_.size() ? forced_[depth_] : among.front();
    stack_.push_back(std::move(node));
  }
  const Node& node = stack_[depth_++];
  return node.at < count ? node.at : among.front();
}

// The way up to here has been gone before: is it another read now than it was then?
bool Search::leads_elsewhere(Execution& run, const Thread& thread, const Node& node) {
  if (thread.id != node.thread || thread.epoch() != node.epoch) return true;
  if (thread.read.kind == ReadKind::atomic)
    return node.cell != ~0U ||
           (node.at < node.choices.size() && thread.read.atomic.call != nullptr &&
            node.choices[node.at].look >= run.came_to_atomic(thread));
  if (node.cell == ~0U || thread.read.looks[0].cell != node.cell) return true;
  if (node.at >= node.choices.size()) return false;
  const Node::Choice& choice = node.choices[node.at];
  return choice.look >= thread.read.looks.size() ||
         choice.set.end() > run.cell(thread.read.looks[choice.look].cell).count;
}

// Would the read of `node`, had it been put off, have had a new set to choose with this deposit?
bool Search::new_minimal_set(Execution& run, const Node& node, std::uint32_t deposit) const {
  const Cell& cell = run.cell(node.cell);
  if (cell.deposits[deposit].cause.at(node.thread) >= node.epoch) return false;
  Bits base = node.must;
  base.add(cell.deposits[deposit].before);
  if (satisfies(cell.value(base), node.condition.compare, node.condition.value)) return false;
  SetQuery query;
  query.cell = &cell;
  query.must = base;
  query.must.add(deposit);
  for (std::uint32_t at = 0; at < cell.count; ++at)
    if (cell.deposits[at].cause.at(node.thread) < node.epoch) query.among.add(at);
  query.condition = node.condition;
  query.limit = most_choices;
  query.patience = &run.patience();
  // Of the sets with this deposit, one that does not satisfy without it.
  for (const Bits& set : closed_sets(query).sets) {
    Bits less;
    set.each([&](std::uint32_t at) {
      if (at != deposit && !cell.deposits[at].before.has(deposit)) less.add(at);
    });
    if (!satisfies(cell.value(less), node.condition.compare, node.condition.value)) return true;
  }
  return false;
}

void Search::deposited(Execution& run, std::uint32_t cell) {
  if (probe_) return;
  for (std::size_t i = 0; i < depth_; ++i) {
    Node& node = stack_[i];
    if (node.cell != cell || node.always_later || node.later_useful ||
        node.at >= node.choices.size())
      continue;
    node.later_useful = new_minimal_set(run, node, run.cell(cell).count - 1);
  }
}

// A read above, of a group that has nothing to do with this one, has left its first way: then this
// group keeps to its own first way. Its others are tried while that group keeps to its first.
bool Search::others_deviate(const Node& node) const {
  const Groups& groups = run_->groups();
  const std::uint32_t group = groups.of(node.thread);
  for (const Node& above : stack_) {
    if (&above == &node) break;
    if (above.at > 0 && groups.of(above.thread) != group) return true;
  }
  return false;
}

// The node's next position: the sets, then later, then expire.
bool Search::step(Node& node) {
  if (!node.starts.empty()) {
    const auto next = std::upper_bound(node.starts.begin(), node.starts.end(), node.at);
    if (next == node.starts.end()) return false;
    node.at = *next;
    return true;
  }
  if (others_deviate(node)) return false;
  const auto sets = static_cast<std::uint32_t>(node.choices.size());
  if (++node.at < sets) return true;
  const bool later = (node.always_later && !mutant("search-never-later-on-sensitive-cells")) ||
                     (node.later_useful && !mutant("search-never-later-on-monotone-cells"));
  if (node.at == sets && (later || sets == 0)) return true;
  if (node.at == sets) ++node.at;
  return node.at == sets + 1 && node.may_expire;
}

bool Search::advance() {
  while (!stack_.empty()) {
    if (step(stack_.back())) return true;
    stack_.pop_back();
  }
  return false;
}

std::string Search::path() const {
  std::string text;
  std::size_t last = 0;
  for (std::size_t i = 0; i < stack_.size(); ++i)
    if (stack_[i].at != 0) last = i + 1;
  for (std::size_t i = 0; i < last; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ".", stack_[i].at);
  return text.empty() ? "0" : text;
}

// 0 .. choices - 1: take; choices: later; choices + 1: expire.
void Search::force(Node& node) {
  node.at = forced_[depth_];
  const auto sets = static_cast<std::uint32_t>(node.choices.size());
  if (node.at <= sets || (node.at == sets + 1 && node.may_expire) || !objection_.empty()) return;
  objection_ = fmt::format("choice {} is {}, and there are 0 to {}", depth_ + 1, node.at,
                           node.may_expire ? sets + 1 : sets);
}

std::string Search::objection() const {
  std::size_t told = forced_.size();
  while (told > 0 && forced_[told - 1] == 0) --told;  // the first ways need no telling
  if (!objection_.empty() || stack_.size() >= told) return objection_;
  return fmt::format("it has {} choices, and the execution ends after {}", told, stack_.size());
}

void Search::follow(const std::string& path) {
  forced_.clear();
  const char* at = path.data();
  const char* const end = at + path.size();
  while (at < end) {
    std::uint32_t value = 0;
    const auto read = std::from_chars(at, end, value);
    forced_.push_back(value);
    at = read.ptr < end ? read.ptr + 1 : end;
  }
}

}  // namespace muster::check::engine
