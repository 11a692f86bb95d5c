#include "check/history.hpp"

#include "check/sites.hpp"

namespace muster::check::engine {

namespace {
using Touch = History::Touch;

bool holds(const Touch& touch, std::uint64_t grain) {
  return touch.first <= grain && grain < touch.last;
}

bool same_where(const Where& a, const Where& b) {
  return same_place(a.at, b.at) && same_place(a.from, b.from);
}

bool goes_on(const Touch& last, const Touch& next) {
  return last.last == next.first && last.stamp == next.stamp && last.epoch == next.epoch &&
         last.thread == next.thread && last.rank == next.rank && last.segment == next.segment &&
         last.access == next.access && same_where(last.where, next.where);
}
}  // namespace

void History::add(const Touch& touch) {
  full_ = touches_.size() == most;
  if (full_) return;
  if (!touches_.empty() && goes_on(touches_.back(), touch))
    touches_.back().last = touch.last;
  else
    touches_.push_back(touch);
}

History::Use History::counted(std::size_t at, std::uint64_t grain) const {
  const Touch& touch = touches_[at];
  Use use{0, touch.where, touch.step};
  std::uint32_t epoch = 0;  // no thread's
  for (std::size_t i = 0; i <= at; ++i) {
    const Touch& other = touches_[i];
    if (other.thread != touch.thread || other.rank != touch.rank ||
        other.segment != touch.segment || other.access != touch.access || !holds(other, grain) ||
        other.epoch == epoch || !same_where(other.where, touch.where))
      continue;
    epoch = other.epoch;
    ++use.times;
  }
  return use;
}

std::optional<History::Use> History::last_use(std::uint64_t grain) const {
  if (full_ || touches_.empty() || !holds(touches_.back(), grain)) return std::nullopt;
  return counted(touches_.size() - 1, grain);
}

std::optional<History::Use> History::use(Stamp stamp, std::uint32_t rank, std::uint32_t segment,
                                         std::uint64_t grain, model::Access access) const {
  for (std::size_t at = touches_.size(); at-- > 0;) {
    const Touch& touch = touches_[at];
    if (touch.stamp == stamp && touch.rank == rank && touch.segment == segment &&
        touch.access == access && holds(touch, grain))
      return counted(at, grain);
  }
  return std::nullopt;
}

}  // namespace muster::check::engine
