// Polls: loops over test, read, wait_any, fetched operations that change nothing, window data or a
// counter.
//
// A poll that would see what it saw the last time, by a thread that has done and learned nothing
// since, is a wait that is put off until it would see more. Twice it is not: where it has not been
// tried yet, it is answered so a limited number of times at a stretch; and where nothing else can
// go on, for as long as it takes to say that it has no end.
//
// A loop that goes on to something else at such a stretch counts its polls: there one equal answer
// does not stand for several. Its poll is known from then on, and each further answer to it is a
// choice of its own, in a search that begins anew.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "check/cells.hpp"
#include "check/thread.hpp"

namespace muster::check::engine {

// What an execution's polls have come to. What a thread remembers of its own (Thread::polls,
// glances and repeats) is touched by this class alone.
class Polls {
 public:
  // Before an execution.
  void reset();

  // The thread has done or learned something: what it looks at next is looked at anew.
  void changed(Thread& self);
  // The thread is at Thread::read. True where that has its answer already, as the last time; else
  // PendingRead::again and may_spin say what is known of it.
  bool recall(Thread& self);
  // The read has been answered, from that one of its looks and with that set.
  void remember(Thread& self, std::uint32_t which, const Bits& set);
  // The execution has ended, the thread with it: a poll that it made at a stretch is counted.
  void ended(Thread& self) { leaves(self); }
  // ... on an atomic object, which is as it was after that: it has seen, or left, that write.
  void remember_atomic(Thread& self, WriteNumber write, Word found);
  // A look at memory: true where it was made often and nothing has changed, so that the thread
  // makes way for others.
  bool is_stale(Thread& self, std::uint64_t what, Where where);
  // The poll is answered as the last time.
  void answer_again() { spun_ = true; }
  // So is this one for a while, and no other: what another poll of the loop may see is tried.
  void spin(Thread& self);

  // Nothing but polls is left, and each is to see once more what it saw; `put_off`: there are reads
  // that the search has put off besides. False where it was so too often.
  bool begin_round(bool put_off);
  void end_rounds() { rounds_ = 0; }  // something else goes on
  void has_no_end(std::string who) { endless_ = std::move(who); }

  // Which polls are counted is known over all executions, and only grows. As with Sensitivity, what
  // has become known counts from settle() on.
  void settle();
  [[nodiscard]] bool learned() const { return !new_.empty(); }
  // For a replay, which must know what the search knew: "" or "n12ab,34cd:".
  [[nodiscard]] std::string known_counted() const;
  // Takes that beginning off a path; false where it is none.
  bool know_counted(std::string_view& path);

  // A poll for which nothing has come that it could see.
  [[nodiscard]] static bool sees_nothing_new(const Thread& thread, const Cells& cells);
  // What the thread has looked at last brought nothing new.
  [[nodiscard]] static bool polls(const Thread& thread) { return thread.repeats > 0; }
  // A poll that saw nothing new was answered again, or put off.
  [[nodiscard]] bool seen() const { return seen_; }
  [[nodiscard]] bool spun() const { return spun_; }          // some were answered as the last time
  [[nodiscard]] bool given_up() const { return given_up_; }  // one was, for long enough
  // Who polls without an end, and where; empty where nobody does.
  [[nodiscard]] const std::string& endless() const { return endless_; }

 private:
  void make_room(Thread& self);  // for the read that it is at

  void leaves(const Thread& self);
  [[nodiscard]] bool counts(std::uint64_t key) const;

  std::set<std::uint32_t> counted_;  // keys, short
  std::set<std::uint32_t> new_;
  bool seen_ = false;
  bool spun_ = false;
  bool given_up_ = false;
  std::string endless_;
  std::uint64_t changes_ = 0;           // writes and deposits of all threads
  std::uint64_t rounds_ = 0;            // one after another, in which nothing changed
  std::uint64_t most_rounds_ = 10'000;  // over all executions
};

}  // namespace muster::check::engine
