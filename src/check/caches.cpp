// The profile noncoherent: caches that only an acquire invalidates, and only a release writes back.
//
// Each thread is a core with a cache of its own, in lines of 64 bytes that may be fetched and
// written back at any time. Stores into the own window and through address(), and all loads, go
// through it; transfers to a peer, remote_adds, packets and signals are made where the memory is,
// and write what they write and nothing beside it.
//
// 1. A read may be answered from a line that was fetched right after the core's last acquire: what
//    another core wrote since then need not be in it, even where a converge says that it is done.
// 2. A cached write fetches its whole line (so 1 holds for all of it), and writes the whole line
//    back at any time until the core's next release: over whatever another core has written beside
//    it meanwhile.
// 3. A converge does neither: each thread acquires and releases for itself. The start of a launch
//    acquires and its end releases, for all its threads.
// 4. A read-modify-write of a cell of the own rank goes through the cache: it may start from a
//    value older than one that its thread has seen, unless it has acquired since. (Deposits that
//    nobody has told it of are not lost: that is a matter of atomicity, see domains.cpp.)
//
// Of two accesses that a line brings together the one that comes second is judged, by what happens
// before it; in every other execution of a certified protocol more does.
#include <fmt/format.h>

#include <algorithm>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

using model::Access;

namespace {
constexpr std::uint64_t line_of_cache = 64;  // bytes

// The core's cache holds nothing any more that is older than what it knows now.
void invalidate_cache(Thread& thread) {
  thread.caches.valid = thread.hb;
  thread.caches.valid_back = thread.caches.back;
}
}  // namespace

Grains Execution::lines_around(Grains touched, std::uint64_t bytes) {
  const std::uint64_t begin = touched.first * bytes / line_of_cache * line_of_cache;
  const std::uint64_t end =
      (touched.last * bytes + line_of_cache - 1) / line_of_cache * line_of_cache;
  return {begin / bytes, (end + bytes - 1) / bytes};
}

// What a deposit tells of writes that have been written back; a release writes back.
void Execution::write_back_caches(Thread& self, Deposit& made, bool releases) {
  if (!has_caches()) return;
  if (made.own_agent) return made.back.clear();
  if (releases && !mutant("release-leaves-the-cache")) self.caches.back.raise(self.stamp());
  made.back = releases ? self.caches.back : self.caches.fence;
}

void Execution::learn_of_caches(Thread& self, const Deposit& taken, bool acquires) {
  if (has_caches()) (acquires ? self.caches.back : self.caches.pending).join(taken.back);
}

void Execution::acquire_caches(Thread& self) {
  if (has_caches() && !mutant("acquire-leaves-the-cache")) invalidate_cache(self);
}

// The start of a kernel, for a thread that knows what its set-up knows, and its end.
void Execution::begin_caches(Thread& thread) {
  if (!has_caches()) return;
  thread.caches.fence = thread.caches.back;
  invalidate_cache(thread);
}

void Execution::end_caches(Thread& thread) {
  if (has_caches() && !mutant("launch-leaves-the-cache")) thread.caches.back.raise(thread.stamp());
}

// May the core still see what was there before that write, and if so, why?
Execution::Stale Execution::staleness(const Thread& self, Stamp write, bool cached) const {
  if (clocks_.issuer_of(write) == self.id) return Stale::no;
  if (cached && !self.caches.back.has(write)) return Stale::not_written_back;
  const Clock& valid = cached ? self.caches.valid_back : self.caches.valid;
  return valid.has(write) ? Stale::no : Stale::not_invalidated;
}

void Execution::check_caches(Thread& self, const std::vector<Shadow>& shadows,
                             const History::Touch& touch, std::uint64_t bytes, bool cached,
                             const std::function<std::string(std::uint64_t)>& place) {
  if (!has_caches() || self.is_setup || mutant("caches-unseen")) return;
  const bool reads = touch.access == Access::read;
  const Grains touched{touch.first, touch.last};
  Grains line = reads || mutant("lines-of-one-element") ? touched : lines_around(touched, bytes);
  line.last = std::min<std::uint64_t>(line.last, shadows.size());
  for (std::uint64_t at = line.first; at < line.last; ++at) {
    const bool beside = at < touched.first || at >= touched.last;
    const auto judge = [&](Stamp write, bool in_cache, Access access) {
      if (!beside && !self.hb.has(write)) return false;  // a race, whatever the caches do
      Stale why = staleness(self, write, in_cache);
      // What is made in memory itself minds nothing but lines that are still to be written back.
      if (!cached && why == Stale::not_invalidated) why = Stale::no;
      if (!cached && !in_cache) why = Stale::no;
      if (why == Stale::no) return false;
      found_cached(self, {touch, at, beside, write, access, why}, place);
      return true;
    };
    if (judge(shadows[at].write, shadows[at].cached, Access::write)) return;
    for (const Stamp& add : shadows[at].adds)
      if (judge(add, false, Access::remote_add)) return;
  }
}

void Execution::found_cached(Thread& self, const CacheFault& fault,
                             const std::function<std::string(std::uint64_t)>& place) {
  const Thread& other = threads_[clocks_.issuer_of(fault.write)];
  const auto use =
      history_.use(fault.write, fault.touch.rank, fault.touch.segment, fault.at, fault.access);
  const std::string me = name_of_thread(self);
  const std::string who = name_of_thread(other);
  const std::string theirs =
      fmt::format("what {} has written{}", who,
                  use ? fmt::format(" ({})", short_place(use->where)) : std::string());
  const std::string here = place(fault.beside ? fault.touch.first : fault.at);
  const bool reads = fault.touch.access == Access::read;
  std::string what =
      reads ? fmt::format("{} reads {} ({}), and may see what was there before {}", me, here,
                          short_place(self.where), theirs)
      : fault.beside
          ? fmt::format(
                "{} writes {} ({}), in one line of a cache with {}, which {} has written{}: "
                "of the two one may be written back over the other",
                me, here, short_place(self.where), place(fault.at), who,
                use ? fmt::format(" ({})", short_place(use->where)) : std::string())
          : fmt::format("{} writes {} ({}), and {} may be written back over it", me, here,
                        short_place(self.where), theirs);
  std::string missing;
  if (!self.hb.has(fault.write))
    missing = fmt::format(
        "no signal leads from {} to {}: data of theirs in lines of their own, or "
        "a release and an acquire between",
        who, me);
  else if (fault.why == Stale::not_written_back)
    missing = fmt::format(
        "{} has released nothing since: a converge writes nothing back, so each "
        "thread that writes releases for itself",
        who);
  else
    missing = fmt::format(
        "{} has acquired nothing since: a converge invalidates nothing, so each "
        "thread that reads acquires for itself",
        me);
  Clock past;
  past.raise(clocks_.event_of(fault.write));
  found(self, Kind::noncoherent, std::move(what), std::move(missing), here, &past,
        {edge(other.rank, use ? use->step : Trace::none, self)});
}

// 4: an add or a fetched operation on a cell of the own rank. The more a relaxed read before it has
// seen, the more is wiped: then one that took more than another is another execution, for the
// certificate and for the search.
void Execution::check_stale_update(Thread& self, Cell& cell, const Deposit& made) {
  if (!has_caches() || cell.rank != self.rank || made.own_agent || made.flips) return;
  if (made.op == NotifyOp::set && !made.fetched) return;
  for (const Reading& reading : cell.readings) {
    const bool its_own = reading.thread == self.id && reading.epoch == self.epoch();
    const bool unseen = reading.epoch <= self.hb.at(reading.thread) &&
                        reading.epoch > self.caches.valid.at(reading.thread);
    if (its_own || !unseen) continue;
    cell.updated_unseen = true;
    sensitivity_.mark(cell);
  }
  const Bits& seen = made.fetched ? self.read.looks[self.read.index].must : made.before;
  const Bits fresh = cell.known(self.caches.valid, nullptr, {});
  for (std::uint32_t at = 0; at + 1 < cell.count; ++at) {
    const Deposit& other = cell.deposits[at];
    if (!seen.has(at) || fresh.has(at) || other.thread == self.id || mutant("updates-are-fresh"))
      continue;
    const Thread& who = threads_[other.thread];
    return found(self, Kind::noncoherent,
                 fmt::format("{} changes {} by what its cache holds of it ({}), which may be what "
                             "was there before {} wrote it ({}), and wipes that",
                             name_of_thread(self), name_of_cell(cell), short_place(made.where),
                             name_of_thread(who), short_place(other.where)),
                 fmt::format("{} has acquired nothing since it saw that deposit: the wait for it "
                             "must acquire, which invalidates the line",
                             name_of_thread(self)),
                 name_of_cell(cell), &other.cause, {edge(who.rank, other.step, self)});
  }
}

}  // namespace muster::check::engine
