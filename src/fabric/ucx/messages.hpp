// What ranks tell each other besides transfers: the active messages and their headers. Ranks of a
// job run the same build on the same kind of machine.
#pragma once

#include <cstdint>

#include "muster/fabric/ucx/context.hpp"

namespace muster::ucx {

enum class Message : unsigned { control, add, added, packet, failure, shrink };
inline constexpr unsigned message_kinds = 6;

// A part of a set-up call: the payload is bytes of whoever called.
struct ControlHeader {
  std::uint64_t team = 0;
  std::uint64_t call = 0;  // which exchange of the team, and which round of it
  std::uint32_t round = 0;
  std::uint32_t from = 0;  // job rank
};

// Numbers to add, from `address` on; answered by `added`, so that the sender's flush knows.
struct AddHeader {
  std::uint64_t address = 0;
  std::uint64_t account = 0;  // of the sender: who waits for the answer
  std::uint32_t from = 0;     // job rank
  Number number = Number::word8;
};

struct AddedHeader {
  std::uint64_t account = 0;
  std::uint64_t count = 0;  // messages that have been applied
};

// The payload goes to `address`, then the flag to `flag_address`.
struct PacketHeader {
  std::uint64_t address = 0;
  std::uint64_t flag_address = 0;
  std::uint32_t flag = 0;
};

// A team has failed, or a rank was lost (`lost`, whose team is 0 and means all). The payload is the
// reason in words.
struct FailureHeader {
  std::uint64_t team = 0;
  std::uint32_t status = 0;  // WaitStatus
  std::uint32_t from = 0;    // job rank that says so
  std::uint32_t lost = 0;    // job rank, or none
};
inline constexpr std::uint32_t no_rank = ~0U;

// What a survivor has seen (docs at Survivors); the payload is a bit for each member.
struct ShrinkHeader {
  std::uint64_t team = 0;
  std::uint32_t round = 0;
  std::uint32_t from = 0;
  std::uint32_t decided = 0;  // the payload is what was agreed, no more a view
};

}  // namespace muster::ucx
