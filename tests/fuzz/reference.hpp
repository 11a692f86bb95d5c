// The reference: a simple interpreter that runs ALL interleavings of a small program and, at each
// read and wait, ALL sets of deposits that weak memory lets it read. It shares no code with the
// checker's engine, and nothing in it is clever: relations are explicit sets of events.
//
// WHAT IT TAKES THE CONTRACT (fabric.hpp) TO MEAN
//
// Events. Each operation has an issue event, in its thread, and an effect event; a put_signal also
// has a payload event, its effect being its deposit; so has put_async, whose payload event is the
// reading of its source. Where the effect is immediate, the thread
// knows both when the operation returns; where it is not, the thread knows the issue only.
//   immediate  local accesses, transfers to the own rank but for the async forms, remote_load, get
//              (its data is there on return), the reading of the source by put and put_signal (it
//              is reusable on return), counters, hand, take, a notify to the own rank; on `direct`
//              everything but put_async and get_async; on `sc` everything
//   later      put_async and get_async, reading and writing; on `rdma`, to another rank: the
//   writing
//              by put, remote_store, remote_add, the payload of put_signal, and a notify; the
//              deposit of put_signal to any rank
//
// Two relations. HB, happens-before, orders a write before what follows. CA contains HB and decides
// that a READ precedes a later write (contract 5).
//   - program order and converge are edges of both; but a load, a read, and a test that says
//   pending
//     are in CA of a later relaxed deposit only where their thread has converged in between (a
//     release waits for them). Before the own thread's later writes a load is in any case. put,
//     get, put_signal and flush converge; in a lane of several threads these meet for it, see
//     with_meetings;
//   - waiting for a deposit, relaxed or not, is an edge of CA from what was in CA when it was made;
//   - an acquire read of a release deposit is an edge of HB from what the deposit carries;
//   - "reading" means the deposits that the value contains: the last set of the set of deposits and
//     what is not before it. A deposit that a later set has overwritten gives no edge of either;
//   - a release notify to p carries what its thread knows, and on `rdma` the effects of those
//     operations on the channel (own rank, p) whose ISSUE its thread knows: its own, and by
//     converge those of its siblings (not by signals between them). Known, not "issued earlier in
//     this execution": what a sibling issued without a converge is not carried. On `direct` it
//     carries the put_asyncs so known, to whomever;
//   - operations on the channel are put, put_async, remote_store, remote_add, notify, and the
//   payload
//     of put_signal. Not get_async, nor the deposit of put_signal: a release carries neither;
//   - flush makes its thread know the effects of all operations of its lane whose issue it knows,
//     put_signals, notifies and gets among them; flush_peer of those with one peer;
//   - complete makes its thread know, of the put_asyncs and get_asyncs with one peer, the reading
//     of the source and the effect;
//   - a notify to the own rank has taken effect on return. What its channel (own lane, own rank)
//     carries is known to its thread only when the deposit is acquired;
//   - put_signal's deposit carries its payload, and nothing that its thread knows (contract 2), on
//     `direct` too. On `direct` the thread itself knows payload and deposit on return, so that a
//     later release carries them; on `rdma` only a flush or the usual acknowledgement tells it of
//     the deposit. On `sc` it carries everything.
//   - what is in flight when an operation is issued is not before it; what its thread knows is. So
//     a put_signal after an acknowledgement of the last one is ordered after it.
//
// Kernels. A boundary ends the kernel of a rank and starts the next one, for all its threads
// together: they meet as at a converge, across lanes, and know the effects of all that they issued.
// What they had read and not acquired they acquire. What they know then is carried by every relaxed
// notify of the new kernel (contract 10: the end of a kernel releases and flushes).
//
// Cells. A deposit has a set `must`: the deposits on its cell that precede it. They are those that
// its thread knew (HB) or had read, and the plain notifies to that cell by its lane whose issue its
// thread knows (contract 4, which speaks of the lane: siblings with a converge between are in
// order). `must` is transitive. A put_signal does not count notifies in flight.
//   - what a thread has read it must see again; this knowledge travels with HB (coherence of reads
//     across threads), not with relaxed deposits;
//   - a readable set holds all that its thread must see, holds `must` of each of its deposits, and
//     forms a chain with all sets that anybody has read of this cell. On `sc` it is the whole cell;
//   - two deposits on one cell that are not both adds clobber unless one is in `must` of the other;
//   - hand and take read the whole cell and are ordered by that. hand uses the release part of its
//     order alone, take the acquire part alone;
//   - a fetched operation reads a set as a read of the own cell does; its thread must also see the
//     plain notifies to that cell of its lane whose issue it knows. Where it changes the value, the
//     set holds all that anybody has read of the cell, its `must` is that set, and the set with it
//     counts as read: so nothing comes between. It has taken effect on return. Where it leaves the
//     value as it was, it is a read and no deposit; unless it is a compare_swap that fails, it and
//     a set clobber each other that is neither in what it has read nor made by who knows of it;
//   - an exchange or compare_swap replaces the value of the set that it has read; adds that are not
//     in that come behind it, whenever they were made. What the replaced deposits carry is carried
//     on. Fetched operations and adds do not clobber each other, in whatever order;
//   - a fetched operation is a load but where it acquires;
//   - a test that answers "pending" has read its set (it must see it again, and CA), but acquires
//     nothing. read with acquire acquires from every deposit of its set.
//
// Races. Accesses to one element, one of them a write, or an add and no add: the earlier write or
// add must be in HB of the later access, the earlier read in CA of the later write. What is ordered
// before a write to the element is ordered before whatever that write is ordered before, also where
// a put_signal carries the write alone.
//
// Deadlock. Somebody has not finished, and every such thread is blocked on the FULL content of its
// cell (or at a converge): an execution exists in which they have looked too late.
//
// Credits. A cell that is promised to be zero is not when all have finished. At the end, or where
// nobody can go on: a take-back (an add of a negative value to a cell that is promised to be zero,
// or to which one thread alone adds such values, which alone waits on it, tests or reads it) after
// which what its deposit must see is below zero; on a cell that is promised to be zero, one by
// another thread than all those that wait on it, test or read it.
//
// Divergence. Threads of a lane meet at the converges of different operations; or nobody can go on,
// and a thread stands at a converge that a sibling which has returned never reaches.
//
// Domains. Two changes of one cell that are both adds or fetched operations, or two remote_adds to
// one element, of ranks in different domains, are an error unless one is before the other: for
// deposits in `must` of the other, for the rest in HB. A fetched operation that leaves the value as
// it was counts too (but for a compare_swap that fails), and what it has read is before it.
//
// noncoherent. Transfers are as on `direct`. Each thread has a cache; `apart` says which elements
// lie in one line of it: all of a rank, where they are 1 apart, else each has its own, as counters
// have. Cached are stores to the own window, by whatever operation but remote_add, put_async,
// get_async and put_signal, and all reads; the rest is made in memory. WB, the cached writes that
// are in memory again, grows by a release, which adds all of its thread's own, travels with HB
// wherever that does, and no other way. VALID is what a thread knew (HB, WB, and deposits seen)
// when it last acquired, or when its kernel began; the end of a kernel releases for all its
// threads.
//   - a read of what another thread has written needs that write in VALID: in its HB, and where the
//     write was cached in its WB. What is not even in HB of the thread is a race instead;
//   - a cached write needs the same of every element of its line; what is not in HB, beside the
//     element that is written, is an error here too;
//   - a write or add in memory needs of the cached writes of others in its line that they are in WB
//     of its thread; what is not in HB counts as above;
//   - an add or a fetched operation on a cell of the own rank, but for a put_signal's: the deposits
//     of others that its thread must see are in HB or seen of VALID.
//
// The first error ends a path. Several errors of one operation are all reported.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "program.hpp"

namespace muster::fuzz {

enum class Wrong : std::uint8_t {
  race,
  deadlock,
  clobber,
  credits,
  divergence,
  domain,
  noncoherent
};
[[nodiscard]] const char* name_of(Wrong wrong);

// Rank after rank: what its threads logged, each list preceded by its length, then the final
// content of its window.
using Outcome = std::vector<std::uint64_t>;

struct Verdict {
  std::set<Wrong> wrong;       // the kinds of error that some execution shows first
  std::set<Outcome> outcomes;  // of the executions without one
  std::uint64_t states = 0;
  bool complete = true;  // false: more than the limit of states; the rest is then partial

  [[nodiscard]] bool correct() const { return wrong.empty(); }
};

struct ReferenceOptions {
  std::uint64_t max_states = 20'000;
  // Visit a state once. A state is which operations have run and what each of them has read; all
  // else follows from it until the first error. Off: plain recursion, to test that claim.
  bool memoise = true;
};

[[nodiscard]] Verdict interpret(const Program& program, const ReferenceOptions& options = {});

}  // namespace muster::fuzz
