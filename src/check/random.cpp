#include "check/random.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::check::engine {

namespace {
constexpr std::size_t ways_looked_at = 64;
constexpr std::uint64_t priority_changes = 3;
constexpr std::uint64_t picks_guessed = 64;  // changes fall within so many decisions
}  // namespace

std::uint64_t Random::below(std::uint64_t bound) {
  return numbers_() % bound;
}

void Random::begin() {
  numbers_.seed(seed_ * 0x9E3779B97F4A7C15U + index_);
  priority_.clear();
  changes_.clear();
  picks_ = 0;
  for (std::uint64_t i = 0; i < priority_changes; ++i) changes_.push_back(below(picks_guessed));
}

Decision Random::pick(Execution& run) {
  auto& threads = run.threads();
  if (priority_.empty())
    for (std::size_t i = 0; i < threads.size(); ++i) priority_.push_back(numbers_() | 1U);
  ++picks_;
  Thread* best = nullptr;
  std::vector<Node::Choice> choices;
  std::uint64_t best_rank = 0;
  for (Thread& thread : threads) {
    if (thread.state != ThreadState::reading) continue;
    bool cut = false;
    auto found = ways(run, thread, true, ways_looked_at, cut);
    if (thread.read.may_spin) found.push_back({0, {}, true});
    if (found.empty()) continue;
    const std::uint64_t rank = pct_ ? priority_[thread.id] : numbers_() | 1U;
    if (rank <= best_rank) continue;
    best_rank = rank;
    best = &thread;
    choices = std::move(found);
  }
  const bool expires = run.expired() < run.options().expire && below(8) == 0;
  if (expires)
    for (Thread& thread : threads)
      if (thread.state == ThreadState::reading && thread.read.kind != ReadKind::atomic &&
          below(2) == 0)
        return {Decision::Action::expire, thread.id, 0, nullptr};
  if (best == nullptr) return {};
  if (pct_ && std::find(changes_.begin(), changes_.end(), picks_) != changes_.end())
    priority_[best->id] = 1 + below(picks_);
  chosen_ = choices[below(choices.size())];
  if (chosen_.again) return {Decision::Action::again, best->id, 0, nullptr};
  return {Decision::Action::take, best->id, chosen_.look, &chosen_.set};
}

std::uint32_t Random::choose(Execution& /*run*/, const std::vector<std::uint32_t>& /*among*/,
                             std::uint32_t count) {
  return static_cast<std::uint32_t>(below(count));
}

std::string Random::path() const {
  return fmt::format("{}{}-{}", pct_ ? "pct" : "random", seed_, index_);
}

}  // namespace muster::check::engine
