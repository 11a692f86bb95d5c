#include "check/trace.hpp"

#include <algorithm>
#include <utility>

namespace muster::check::engine {

void Trace::add(Step step, const Clock& known) {
  if (!kept_) return;
  const std::uint32_t thread = step.thread;
  if (thread >= last_.size()) last_.resize(thread + 1, none);
  last_[thread] = steps_.size();
  steps_.push_back(std::move(step));
  learned(thread, known);
}

std::size_t Trace::last_of(std::uint32_t thread) const {
  return thread < last_.size() ? last_[thread] : none;
}

void Trace::took(std::uint32_t thread, std::size_t deposit) {
  const std::size_t at = last_of(thread);
  if (at == none || deposit == none) return;
  auto& reads = steps_[at].reads;
  if (std::find(reads.begin(), reads.end(), deposit) == reads.end()) reads.push_back(deposit);
}

// The parts of one transfer are one flight, which is over with the last of them.
void Trace::flies(std::uint32_t thread, Stamp done) {
  const std::size_t at = last_of(thread);
  if (!kept_ || at == none) return;
  steps_[at].flies = true;
  if (!flights_.empty() && flights_.back().step == at)
    flights_.back().done = done;
  else
    flights_.push_back({at, done});
}

void Trace::learned(std::uint32_t thread, const Clock& known) {
  const std::size_t at = last_of(thread);
  if (at == none || flights_.empty()) return;
  std::erase_if(flights_, [&](const Flight& flight) {
    if (flight.step == at || !known.has(flight.done)) return false;
    steps_[flight.step].lands = at;
    return true;
  });
}

void Trace::clear() {
  steps_.clear();
  last_.clear();
  flights_.clear();
}

}  // namespace muster::check::engine
