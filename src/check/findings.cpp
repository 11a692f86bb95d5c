#include "check/findings.hpp"

#include <algorithm>
#include <utility>

namespace muster::check::engine {

namespace {
// What is told first: causes before their consequences.
int rank_of(Kind kind) {
  switch (kind) {
    case Kind::race: return 1;
    case Kind::clobber: return 2;
    case Kind::stale_pass: return 3;
    case Kind::credits: return 4;
    case Kind::divergence:
    case Kind::deadlock: return 5;
    case Kind::expect: return 6;
    default: return 0;
  }
}
}  // namespace

bool Findings::has_room_for(Kind kind) const {
  return list_.size() < most || rank_of(list_.back().kind) > rank_of(kind);
}

bool Findings::add(Finding finding, const Clock& past) {
  if (!has_room_for(finding.kind)) return false;
  for (const Finding& other : list_)
    if (other.kind == finding.kind && other.location == finding.location &&
        other.rank == finding.rank)
      return false;
  if (list_.size() == most) list_.pop_back();
  const auto place = std::find_if(list_.begin(), list_.end(), [&](const Finding& other) {
    return rank_of(other.kind) > rank_of(finding.kind);
  });
  if (place == list_.begin()) past_ = past;
  list_.insert(place, std::move(finding));
  return true;
}

void Findings::clear() {
  list_.clear();
  past_.clear();
}

}  // namespace muster::check::engine
