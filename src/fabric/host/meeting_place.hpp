// Where the ranks of a team meet in set-up calls: one place for all, in the memory of the team's
// first member. A meeting of P ranks is P arrivals and one wake-up; nobody touches the memory of P
// peers, of which each would cost every process page tables of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "fabric/host/call_board.hpp"
#include "fabric/host/layout.hpp"
#include "muster/types.hpp"

namespace muster::host {

// What one rank is about to do, in words. Written by it before it arrives.
struct Announcement {
  std::uint64_t digest = 0;  // of the whole text
  std::uint32_t failed = 0;  // the text says why
  std::array<char, 500> text{};
};

// What the last to come makes of the announcements of all.
struct Verdict {
  std::uint32_t failed = 0;   // the first rank that has, plus 1
  std::uint32_t differs = 0;  // the first rank that announces another call than rank 0, plus 1
};

// Meetings are counted from 0. What belongs to one lies in one of two places in turn: a rank that
// writes a place again has passed the meeting in between, which each reader of it entered after it
// had read.
class MeetingPlace {
 public:
  // Nobody uses the memory yet.
  void begin(std::uint32_t ranks);

  // Of meeting `number`; from a rank that has not arrived there yet.
  void announce(std::uint32_t rank, std::uint32_t number, std::uint64_t value,
                const Announcement& announcement);
  // True for the last to come, who has to end the meeting.
  [[nodiscard]] bool arrive(std::uint32_t rank, std::uint32_t number);
  // Wakes all who wait for it.
  void end(std::uint32_t number, const Verdict& verdict);
  // By the last to come, of a meeting where all have made announcements.
  [[nodiscard]] Verdict judge(std::uint32_t number) const;

  // Of a meeting that has ended.
  [[nodiscard]] std::uint64_t value(std::uint32_t rank, std::uint32_t number) const;
  [[nodiscard]] const Announcement& announcement(std::uint32_t rank, std::uint32_t number) const;
  [[nodiscard]] const Verdict& verdict(std::uint32_t number) const { return verdicts_[number % 2]; }

  // How many have ended: a word to wait on.
  [[nodiscard]] std::uint32_t& ended() { return ended_; }
  // The first rank that has not arrived at the one under way.
  [[nodiscard]] std::optional<std::uint32_t> first_absent() const;

  // Of the whole place, a whole number of pages. Behind it lie the call boards of all ranks.
  [[nodiscard]] static std::uint64_t bytes(std::uint32_t ranks);
  [[nodiscard]] static std::uint64_t bytes_with_boards(std::uint32_t ranks) {
    return bytes(ranks) + ranks * sizeof(CallBoard);
  }

 private:
  [[nodiscard]] std::atomic<std::uint32_t>* arrivals() const;
  [[nodiscard]] std::uint64_t* values(std::uint32_t number) const;
  [[nodiscard]] Announcement* announcements(std::uint32_t number) const;

  std::uint32_t ranks_;
  alignas(64) std::atomic<std::uint32_t> arrived_;  // at the meeting under way
  alignas(64) std::uint32_t ended_;
  alignas(64) std::array<Verdict, 2> verdicts_;
};

}  // namespace muster::host
