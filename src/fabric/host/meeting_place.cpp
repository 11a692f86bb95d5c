#include "fabric/host/meeting_place.hpp"

#include <algorithm>

#include "fabric/host/futex.hpp"

namespace muster::host {
namespace {

// Behind the object: when each rank last arrived, its values, its announcements.
struct Offsets {
  std::uint64_t arrivals;
  std::uint64_t values;
  std::uint64_t announcements;
  std::uint64_t end;
};

Offsets offsets_of(std::uint64_t ranks) {
  Offsets at{};
  at.arrivals = sizeof(MeetingPlace);
  at.values = (at.arrivals + ranks * sizeof(std::uint32_t) + 63) / 64 * 64;
  at.announcements = at.values + 2 * ranks * sizeof(std::uint64_t);
  at.end = at.announcements + 2 * ranks * sizeof(Announcement);
  return at;
}

template <class T>
T* behind(const MeetingPlace* place, std::uint64_t offset) {
  auto* const base = reinterpret_cast<std::byte*>(const_cast<MeetingPlace*>(place));
  return reinterpret_cast<T*>(base + offset);
}

}  // namespace

std::uint64_t MeetingPlace::bytes(std::uint32_t ranks) {
  return (offsets_of(ranks).end + page - 1) / page * page;
}

std::atomic<std::uint32_t>* MeetingPlace::arrivals() const {
  return behind<std::atomic<std::uint32_t>>(this, offsets_of(ranks_).arrivals);
}

std::uint64_t* MeetingPlace::values(std::uint32_t number) const {
  return behind<std::uint64_t>(this, offsets_of(ranks_).values) + std::size_t{number % 2} * ranks_;
}

Announcement* MeetingPlace::announcements(std::uint32_t number) const {
  return behind<Announcement>(this, offsets_of(ranks_).announcements) +
         std::size_t{number % 2} * ranks_;
}

void MeetingPlace::begin(std::uint32_t ranks) {
  ranks_ = ranks;
  // Relaxed: published with the team's number.
  arrived_.store(0, std::memory_order_relaxed);
  ended_ = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    arrivals()[rank].store(0, std::memory_order_relaxed);
}

void MeetingPlace::announce(std::uint32_t rank, std::uint32_t number, std::uint64_t value,
                            const Announcement& announcement) {
  values(number)[rank] = value;
  announcements(number)[rank] = announcement;
}

bool MeetingPlace::arrive(std::uint32_t rank, std::uint32_t number) {
  arrivals()[rank].store(number + 1, std::memory_order_relaxed);  // for messages alone
  // Pairs with itself: the last to come sees what all others have announced.
  return arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_;
}

Verdict MeetingPlace::judge(std::uint32_t number) const {
  Verdict verdict;
  const Announcement* const all = announcements(number);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (all[rank].failed != 0 && verdict.failed == 0) verdict.failed = rank + 1;
    if (all[rank].digest != all[0].digest && verdict.differs == 0) verdict.differs = rank + 1;
  }
  return verdict;
}

void MeetingPlace::end(std::uint32_t number, const Verdict& verdict) {
  verdicts_[number % 2] = verdict;
  arrived_.store(0, std::memory_order_relaxed);  // carried by the release below
  // Pairs with the acquire of those who wait for the word.
  std::atomic_ref(ended_).store(number + 1, std::memory_order_release);
  futex_wake(ended_);
}

std::uint64_t MeetingPlace::value(std::uint32_t rank, std::uint32_t number) const {
  return values(number)[rank];
}

const Announcement& MeetingPlace::announcement(std::uint32_t rank, std::uint32_t number) const {
  return announcements(number)[rank];
}

std::optional<std::uint32_t> MeetingPlace::first_absent() const {
  const std::uint32_t under_way =
      std::atomic_ref(const_cast<std::uint32_t&>(ended_)).load(std::memory_order_relaxed) + 1;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (arrivals()[rank].load(std::memory_order_relaxed) != under_way) return rank;
  }
  return std::nullopt;
}

}  // namespace muster::host
