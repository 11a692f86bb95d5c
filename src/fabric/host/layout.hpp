// What a job's shared memory holds: one header that all ranks map, then each rank's cells and heap.
// Where ranks share cores, the cells of several lie between each other: see ranks_in_line.
//
//   | header | rank 0: cells, heap | rank 1: cells, heap | ...
//
// The file is sparse: addresses are plentiful, pages are taken as windows are allocated.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fabric/host/range_allocator.hpp"
#include "muster/fabric/host.hpp"

namespace muster::host {

inline constexpr std::uint32_t max_ranks = 1024;
// max_segments a job may have at a time: its own memory, and what ranks register; and max_teams.
inline constexpr std::uint32_t no_rank = ~0U;
inline constexpr std::size_t page = 4096;

// How far a rank has come. Written by the rank itself; release, so that what it wrote before is
// seen with it.
enum class RankState : std::uint32_t { absent, joined, left };

// Where deposits into a rank tell whoever watches its cells (CellWatch) which to look at: cells are
// in `groups` groups, by their number.
struct CellBell {
  static constexpr std::uint32_t groups = 512;
  using Bits = std::array<std::atomic<std::uint64_t>, groups / 64>;

  alignas(64) Bits watched;  // somebody waits for a cell of the group
  alignas(64) Bits hints;    // one of them may have changed
  // A word to sleep on. Its lowest bit: a watcher does, or is about to. The others change whenever
  // all watchers are woken.
  alignas(64) std::atomic<std::uint32_t> sleep;
  static constexpr std::uint32_t asleep = 1;

  // For traces, where `traced`: who deposited last into a cell of the group (job rank << 16 |
  // lane), and when (ns of the steady clock). Two at once may mix.
  struct Deposit {
    std::atomic<std::uint32_t> who;
    std::atomic<std::int64_t> when;
  };
  std::atomic<std::uint32_t> traced;
  std::array<Deposit, groups> deposits;

  void wake_one();
  void wake_all();
};

struct alignas(64) RankRecord {
  std::atomic<std::int32_t> pid;         // as it calls itself, for messages alone
  std::atomic<std::uint64_t> pid_space;  // in which the number means something; 0: not known
  std::atomic<RankState> state;
  std::atomic<std::uint32_t> ended;      // set by a launcher that has seen the process end
  std::atomic<std::uint32_t> shrinking;  // the team that it is shrinking, plus 1
  std::atomic<std::uint32_t> runs;       // that it has begun in this job, the current one included
  cpu_set_t cores;                       // that it may run on; written before `joined`
  // Lanes that sleep on a cell in this rank's memory; and `watched`, where somebody watches its
  // cells by its CellBell. On a line of its own: notifying ranks read it each time.
  static constexpr std::uint32_t watched = 1U << 31U;
  alignas(64) std::atomic<std::uint32_t> sleepers;
};

// What all members of a team share about it. Members are job ranks, by team rank.
struct TeamRecord {
  // A WaitStatus; the first failure wins and stays. Release by whoever fails the team, after `lost`
  // and `reason`; acquire by who reports them.
  std::atomic<std::uint32_t> status;
  // Who writes `lost` and `reason` (job rank plus 1). Where it dies before it has set the status,
  // one of those who see that takes its place.
  std::atomic<std::uint32_t> failing;
  std::uint32_t lost;  // the job rank that died or failed
  std::array<char, 500> reason;

  // Shrinking: who decides (job rank plus 1), and the team that was decided upon (its number plus
  // 1).
  std::atomic<std::uint32_t> decider;
  std::atomic<std::uint32_t> successor;

  // Who is done with the team, by team rank; guarded by the header's lock. The last of those that
  // live gives its memory and its number back.
  enum class LetGo : std::uint8_t { no, cleared, as_it_was };
  std::array<LetGo, max_ranks> let_go;

  std::uint32_t size;
  std::uint64_t place_offset;  // of its MeetingPlace, in the heap of the first member
  std::array<std::uint16_t, max_ranks> members;
};

struct JobHeader {
  static constexpr std::uint64_t magic_value = 0x726574'7375'6d07ULL;  // "muster", version 7

  std::atomic<std::uint64_t> magic;
  std::uint64_t nonce;  // tells this job's memory from any other's
  std::uint32_t ranks;
  std::uint64_t rank_offset;  // of rank 0's region from the start of the file
  std::uint64_t rank_stride;
  std::uint64_t cells;  // per rank
  // So many ranks in turn have their copies of a cell in one cache line. 1 where every rank has a
  // core: then ranks would fight over lines that they do not share. More where ranks share cores:
  // what a rank deposits to all its peers is then one line, which the peers of one core fetch once.
  std::uint32_t ranks_in_line;
  std::uint64_t heap_bytes;  // per rank
  bool watched;              // a launcher sets `ended` of each rank whose process has ended

  // The run that the memory is for, from 0. Written by rank 0 with release, when all have come to
  // that run and it has made the memory as new; acquire by the others, before they touch it.
  std::atomic<std::uint32_t> run;
  // Words to wait on: how often ranks have begun a run, all together, and how many have joined this
  // one. RankRecords say which.
  // `unjoined` is the rank that was lost while they came (run plus 1, then rank), the first that
  // anybody saw: whoever sees it ends, and must not be taken for the cause by others.
  std::atomic<std::uint64_t> unjoined;
  std::atomic<std::uint32_t> begun;
  std::atomic<std::uint32_t> joined;

  // The team that the job ends with: that of all, or of the survivors that took its place.
  std::atomic<std::uint32_t> standing;

  // Each rank's sign of life, held by it alone, and that of `muster run`: see liveness.hpp.
  std::array<pthread_mutex_t, max_ranks> marks;
  pthread_mutex_t launcher_mark;

  std::atomic<std::uint32_t> lock;  // see HeaderLock; guards the allocators and what is taken
  std::array<bool, max_teams> team_taken;
  std::array<bool, max_segments> segment_taken;
  RangeAllocator cell_space;
  RangeAllocator heap_space;

  std::array<RankRecord, max_ranks> rank_records;
  std::array<TeamRecord, max_teams> teams;
  std::array<CellBell, max_ranks> bells;  // by rank; large, and touched where one is watched alone
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace muster::host
