// What the checker is asked and what it answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/check/placement.hpp"
#include "muster/types.hpp"

namespace muster::model {
class Team;
}

namespace muster::check {

// What can be wrong with a protocol.
enum class Kind : std::uint8_t {
  deadlock,     // every thread that is left is blocked
  race,         // window data accessed unordered, one access a write
  stale_pass,   // a barrier was left, or a credit taken, on the strength of another call's deposit
  clobber,      // two writes to one cell that are neither both adds nor ordered
  credits,      // a cell left over, negative, or taken back by a thread that does not own it
  scope,        // two operations on one cell by threads outside each other's scope
  domain,       // read-modify-writes on one cell from two atomicity domains
  divergence,   // threads of a lane at different converges; ranks in different calls
  noncoherent,  // a cache was not invalidated or not written back
  expect,       // the body's own assertion
  contract,     // an argument that does not exist: a rank, a cell, a window, a box outside
  body,         // the body threw, overflowed its stack, or looped without a wait
};

enum class Verdict : std::uint8_t {
  certified,  // one execution stands for all
  complete,   // every execution was explored
  bounded,    // no error found, and not everything explored; Report::bound says what was left out
  refuted,    // there is a failing execution
};

[[nodiscard]] const char* name_of(Kind kind);
[[nodiscard]] const char* name_of(Verdict verdict);
[[nodiscard]] const char* name_of(Profile profile);
[[nodiscard]] std::optional<Profile> profile_of(const std::string& name);

// How executions are chosen where no certificate holds.
enum class Strategy : std::uint8_t { search, random, pct };

// Whose rules memory below the fabric's operations follows: those of C++20, which libcu++ keeps
// too, or those of PTX, where a thread's later store to an object that it has released releases as
// well, and fence.sc orders more than seq_cst. Both without load buffering.
enum class Rules : std::uint8_t { cpp, ptx };

// A change to the operations at one place of the source, to see whether it mends or spoils.
enum class Change : std::uint8_t {
  release,          // the notifies there release
  acquire,          // the waits there acquire
  widen,            // the scope there is the system
  relax,            // the notifies and waits there are relaxed
  flush_before,     // a flush before the operation
  converge_before,  // a converge of the lane before the operation
  converge_after,   // a converge of the lane after the operation
  drop,             // the notify, wait, flush or converge there does nothing
};

// One configuration of one protocol in one profile.
struct Options {
  std::uint32_t ranks = 2;
  std::uint32_t calls = 2;  // for the body to use; the engine only prints it
  std::uint32_t lanes = 1;
  std::uint32_t threads = 1;  // per lane
  std::uint32_t tasks = 0;    // room for so many blocks of tasks of graphs on each rank
  Profile profile = Profile::direct;
  Placement place{};         // where its lanes run
  Rules rules = Rules::cpp;  // of atomic objects, on direct

  Strategy strategy = Strategy::search;
  std::uint64_t seed = 1;                   // random and pct
  std::uint64_t executions = 2'000'000;     // at most; above that the verdict is `bounded`
  std::uint64_t steps = 5'000'000;          // of one execution, before it counts as a loop
  std::uint32_t expire = 0;                 // at most so many waits of an execution expire
  bool certificate = true;                  // false: search even where condition D holds
  std::string replay{};                     // choices of Report::replay: run only this execution
  std::map<std::string, Change> changes{};  // by Site::key
  bool trace = false;                       // keep the events of the failing execution
  bool quick = false;                       // no exhaustive search: a certificate, a few schedules
  std::function<void(std::uint64_t executions)> progress{};  // called now and then in a long run
  std::function<bool()> halt{};  // asked now and then, in long executions too: bounded where true
};

// An operation in the source of a protocol.
struct Site {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string operation;                  // notify, wait, flush, ...
  Order order = Order::relaxed;           // as written; where it varies, not the relaxed one
  std::uint64_t times = 0;                // how often the first execution came to it, on all ranks
  bool narrow = false;                    // of a scope that is not the system
  [[nodiscard]] std::string key() const;  // file:line:column:operation
};

// Where an edge is missing: what happened at `to` has not heard of `from`.
struct MissingEdge {
  std::optional<std::uint32_t> rank{};  // that should have told; none: nobody in particular
  std::optional<std::size_t> from{};    // its event, where it has made it: index in Report::events
  std::size_t to = 0;                   // index in Report::events
};

// One thing that is wrong.
struct Finding {
  Kind kind{};
  std::string what;     // one sentence: who, where, what was seen
  std::string missing;  // the missing edge, in words
  std::optional<std::uint32_t> rank{};
  std::optional<std::uint32_t> lane{};
  std::string location;  // "inbox[3] of rank 1", "rows 0, lane 0, from rank 2, of rank 1"
  std::vector<MissingEdge> edges{};  // with Options::trace
};

// A line of a source.
struct Place {
  std::string file;        // as the compiler was told its name
  std::uint32_t line = 0;  // from 1; 0: no place
};

// One step of a traced execution.
struct Event {
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint32_t thread = 0;
  bool setup = false;  // by the rank's set-up, outside lanes
  std::string what;    // "notify rows 0 [from 1] of rank 2: set 1 release"
  std::string where;   // file:line
  bool past = false;   // in the causal past of the failure; where there is none, always
  Place at{};          // the operation
  Place call{};        // the call of a protocol that it belongs to, if any
  std::vector<std::size_t> reads{};    // the events whose deposits it took: index in Report::events
  bool flies = false;                  // a transfer that is in flight when its call returns
  std::optional<std::size_t> lands{};  // the first event that knows it to be done, if any does
  bool fails = false;                  // says that something is wrong: "** race **"
};

// What one rank did in one execution.
struct Cost {
  std::uint64_t rounds = 0;    // the longest chain of deposits that were waited for
  std::uint64_t notifies = 0;  // to other ranks; hands, put_signals, fetched operations among them
  std::uint64_t own_notifies = 0;  // to itself, take-backs and takes among them
  std::uint64_t waits = 0;         // wait, wait_any, hand, take, fetched operations
  std::uint64_t flushes = 0;
  std::uint64_t bytes = 0;  // sent to other ranks, or fetched from them
};

struct Report {
  Verdict verdict = Verdict::bounded;
  std::uint64_t executions = 0;   // explored to their end (leaves of the search)
  std::uint64_t dropped = 0;      // abandoned: a deferred wait's deposit never came
  std::uint64_t steps = 0;        // operations of the model in all executions
  std::string bound;              // what was left out; what is vacuous
  std::string why_search;         // why no certificate, empty where there is one
  bool polls = false;             // a poll that sees nothing new was not answered so without end
  bool unfinished = false;        // Options::quick: more would be explored without it
  bool parts = false;             // lanes were divided into parts
  std::vector<Finding> findings;  // of the first failing execution; the first one is the verdict's
  std::vector<Event> events;      // with Options::trace: of the failing execution, or of a replay
  std::string replay;             // choices that reproduce the failing execution
  std::string no_such_replay;     // why Options::replay is no execution of this configuration
  std::vector<Site> sites;        // operations that were run
  std::vector<Cost> costs;        // of the last execution, by rank
  // What Team::outcome recorded, for each way in which a whole execution ended.
  std::set<std::vector<std::uint64_t>> outcomes;

  [[nodiscard]] bool has(Kind kind) const;
  [[nodiscard]] bool good() const { return verdict != Verdict::refuted; }
};

// Runs `body` once per rank and execution, and answers for this configuration. Deterministic.
[[nodiscard]] Report explore(const Options& options, const std::function<void(model::Team&)>& body);

}  // namespace muster::check
