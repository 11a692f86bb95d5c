// Where ranks write which collective call they are about to make, so that two that differ are told
// apart instead of hanging. In verifying runs only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "muster/fabric.hpp"

namespace muster::host {

// The second detail of a set-up call. Two of those are compared by the team itself, in full.
inline constexpr std::uint64_t set_up_call = ~0ULL;

// One call of one lane of one rank. Read while its owner may write the next lap's: a reader that
// finds another number before or after it has read nothing.
struct alignas(64) CallRecord {
  static constexpr std::size_t name_words = 5;
  static constexpr std::size_t other_words = 9;

  std::atomic<std::uint64_t> number;  // the lane's first call is 1; 0 while it is written
  std::array<std::atomic<std::uint64_t>, name_words> name;
  std::array<std::atomic<std::uint64_t>, other_words> words;  // all else that is compared
  std::atomic<std::uint64_t> own_number;  // of the call among those of its object; not compared
};

// The calls of one rank: for each lane the latest few. A peer that is further behind is not
// compared; behind a call that brings ranks together it cannot be, for nobody leaves that before
// all have entered it.
struct CallBoard {
  static constexpr std::uint32_t lanes = 64;  // lanes beyond are not compared
  static constexpr std::uint32_t laps = 8;

  std::array<std::array<CallRecord, laps>, lanes> records;

  void write(std::uint32_t lane, std::uint64_t number, const CallSignature& call);

  // Has this rank made call `number` on the lane, and another one than `call`? Then what it made,
  // in words; empty otherwise.
  [[nodiscard]] std::string differs(std::uint32_t lane, std::uint64_t number,
                                    const CallSignature& call) const;
};

}  // namespace muster::host
