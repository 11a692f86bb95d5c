// One execution: what the operations of the model do, and the loop that runs its threads.
//
// All operations that read no signal run as soon as their thread can; where every thread is
// blocked, a Scheduler decides which read goes on and what it takes.
//
// The operations are written over the parts of its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/events.hpp"
#include "check/execution_state.hpp"
#include "check/scheduler.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

class Execution : private ExecutionState {
 public:
  Execution(const Options& options, const std::function<void(model::Team&)>& body);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  Ending run(Scheduler& strategy);

  // ---- how it is to be run
  void keep_record(bool keep) { record_.keep(keep); }  // for mirror.hpp
  void keep_trace(bool keep) { trace_.keep(keep); }
  void keep_sites(bool keep) { sites_.keep_sites(keep); }
  // Ranks, lanes and threads run in the opposite order.
  void reverse(bool reversed) { reversed_ = reversed; }
  // sc: every set of every read is tried, not only the minimal ones; see explore.cpp.
  void search_sc_exactly() { exact_sc_ = true; }

  // ---- what happened, for strategies, the certificate and reports
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Threads& threads() { return threads_; }
  [[nodiscard]] const Cell& cell(std::uint32_t index) const { return cells_[index]; }
  [[nodiscard]] const std::vector<Taken>& taken() const { return taken_; }
  [[nodiscard]] const Findings& findings() const { return findings_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const Polls& polls() const { return polls_; }
  [[nodiscard]] Polls& polls() { return polls_; }
  [[nodiscard]] const Record& recorded() const { return record_; }
  [[nodiscard]] const std::vector<Cost>& costs() const { return costs_; }
  [[nodiscard]] std::vector<Site> sites() const { return sites_.sites(); }
  [[nodiscard]] Sensitivity& sensitivity() { return sensitivity_; }
  [[nodiscard]] Groups& groups() { return groups_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_.all(); }
  [[nodiscard]] std::uint32_t expired() const { return expired_; }
  [[nodiscard]] bool aborted() const { return aborted_; }
  [[nodiscard]] bool halted() const { return halted_; }
  // For work that is no operation: asked as often as such work is done.
  [[nodiscard]] Patience& patience() { return patience_; }
  // Window data, an expectation, a barrier's calls or a promise: something to be right or wrong.
  [[nodiscard]] bool has_substance() const { return has_substance_; }
  [[nodiscard]] bool has_parts() const { return has_parts_; }
  [[nodiscard]] bool has_atomics() const { return has_atomics_; }
  [[nodiscard]] const WeakMemory& weak_memory() const { return weak_; }
  // The writes that the thread, at an atomic object, may read, or put its own behind; `newer`: of
  // these what has come since it was put off.
  [[nodiscard]] std::vector<WriteNumber> ways_of_atomic(const Thread& thread, bool newer) const;
  // How many writes, or fences, have come so far to what it is at.
  [[nodiscard]] std::uint32_t came_to_atomic(const Thread& thread) const;
  [[nodiscard]] std::vector<std::uint64_t> outcome() const;
  [[nodiscard]] Memory memory() const { return memory_of(windows_, counters_); }
  // Where the memory is not as it was then; empty where it is, or where it depends on the order in
  // which inexact numbers were added.
  [[nodiscard]] std::string difference_from(const Memory& then) const;
  // Thread::state is reading, and something it may take has come since it was put off.
  [[nodiscard]] bool awaits_decision(const Thread& thread) const;
  [[nodiscard]] bool satisfied_in_full(const Thread& thread) const;
  // sc: is there one order of everything that explains what was read?
  [[nodiscard]] bool explained_by_one_order() const { return one_order_.exists(weak_); }
  // sc: something was wrong that no one order explains, and was passed over.
  [[nodiscard]] bool unexplained() const { return unexplained_; }
  [[nodiscard]] bool is_exact_sc() const { return exact_sc_; }

  // ---- names
  [[nodiscard]] std::string name_of_cell(const Cell& cell) const { return cells_.name_of(cell); }
  [[nodiscard]] std::string name_of_thread(const Thread& thread) const;

  // ---- the operations of the fabric; each begins with step()
  void converge(Thread& self, WaitStatus& status, const char* kind, Where where);
  void broadcast(Thread& self, void* value, std::size_t size, Where where);
  void notify(Thread& self, Signal signal, Rank peer, std::uint32_t value, NotifyOp op, Order order,
              Where where);
  WaitStatus read_signal(Thread& self, ReadKind kind, const Condition* conditions,
                         std::uint32_t count, Rank owner, Order order, Where where);
  Fetched fetch(Thread& self, const Fetch& fetch, Signal signal, Rank peer, Order order,
                Where where);
  // Atomic objects, fences, and plain data beside them; returns what was found.
  Word atomic(Thread& self, const detail::Object& of, const detail::AtomicCall& call);
  void atomic_fence(Thread& self, std::memory_order order, Scope scope, std::source_location place);
  void* touch_object(Thread& self, const detail::Object& of, bool writes,
                     std::source_location place);
  void object_made(Thread& self, const detail::Object& object);
  void object_gone(Thread& self, const void* address);
  void* share_object(Thread& self, const std::function<std::shared_ptr<void>()>& make,
                     const char* name, std::source_location place);
  std::uint32_t counter(Thread& self, Counter counter, Where where);
  void set_counter(Thread& self, Counter counter, std::uint32_t value, Where where);
  void* touch(Thread& self, Rank rank, model::Span span, model::Access access, Where where);
  void put(Thread& self, model::Span to, Rank peer, model::Span from, bool async, Where where);
  void get(Thread& self, model::Span to, model::Span from, Rank peer, bool async, Where where);
  void put_signal(Thread& self, model::Span to, Rank peer, model::Span from, Signal signal,
                  std::uint32_t value, NotifyOp op, Where where);
  void* move_element(Thread& self, model::Span span, Rank peer, model::Access access, bool remote);
  void inexact() { inexact_ = true; }  // the results of remote_add depend on their order
  // A look at memory: makes way for others where it was made often and nothing has changed.
  void look(Thread& self, std::uint64_t what, Where where);
  void changes(Thread& self) { polls_.changed(self); }
  bool begin_packets(Thread& self, model::Span lines, Rank peer, std::uint32_t flag, Where where);
  void* put_packet(Thread& self, model::Span element, Rank peer);
  void end_packets(Thread& self, model::Span lines, Rank peer, std::uint32_t flag, Where where);
  WaitStatus wait_packets(Thread& self, model::Span lines, std::uint32_t flag, Where where);
  void* read_packet(Thread& self, model::Span element);
  void clear_packets(Thread& self, model::Span lines, Where where);
  void launch_wait(Thread& self, Where where);
  void launch_done(Thread& self, Where where);
  bool begin_sentinel(Thread& self, model::Span lines, Rank peer, Where where);
  void check_sentinel(Thread& self, bool is_one, Where where);
  void* put_element(Thread& self, model::Span element, Rank peer);
  void end_sentinel(Thread& self, model::Span lines, Rank peer, Where where);
  WaitStatus wait_sentinel(Thread& self, model::Span lines, Where where);
  bool begin_clearing(Thread& self, model::Span lines, Where where);
  void clear_element(Thread& self, model::Span element);
  void end_clearing(Thread& self, model::Span lines, Where where);
  // The asynchronous transfers with the peer among the first `begun` agents, of the own thread.
  void complete(Thread& self, Rank peer, std::uint32_t begun, Where where);
  void flush(Thread& self, std::optional<Rank> peer, Where where);
  [[nodiscard]] std::uint32_t agents() const { return clocks_.agents(); }
  void describe(Thread& self, const CallSignature& call);
  void enter_call(Thread& self, std::uint32_t barrier, model::BarrierScope scope, Where where);
  void leave_call(Thread& self, std::uint32_t barrier, WaitStatus status, Where where);
  void record_outcome(Thread& self, std::uint64_t value);
  void expect(Thread& self, bool holds, std::string_view what, Where where);
  // What `self` does with these threads it does as that part of its lane. False, with a finding,
  // where they are not threads of its lane with itself among them.
  // Nor where one of them is of another part that is in use.
  bool check_part(Thread& self, std::uint32_t first, std::uint32_t count, Where where);
  bool check_rank(Thread& self, Rank rank, Where where);
  bool contract(Thread& self, bool holds, std::string_view what, Where where);
  void step(Thread& self, const char* operation, Where where);
  // A waiter that has registered may not use its fabric any more.
  void check_sealed(Thread& self, Where where);
  void note(const Thread& self, Where where, std::string what);  // only while tracing
  [[nodiscard]] bool tracing() const { return trace_.is_kept(); }

  // ---- set-up calls
  [[nodiscard]] Windows& windows() { return windows_; }
  [[nodiscard]] Cells& cells() { return cells_; }
  [[nodiscard]] Counters& counters() { return counters_; }
  // Meets the other ranks at the self's next set-up call; make() runs once, on the first arrival.
  std::uint32_t meet(Thread& self, const std::string& what,
                     const std::function<std::uint32_t()>& make, Where where);
  // The cells that the flags of packets in this segment are, or the arrivals of sentinels' tiles.
  void make_slots(std::uint32_t segment);
  void free_segment(Thread& self, std::uint32_t segment, Where where);
  void free_cells(Thread& self, std::uint32_t first, std::uint32_t count, Where where);
  void promise_zero(Thread& self, std::uint32_t first, std::uint32_t count);
  // `kernels` of so many lanes, each of which may begin before the one before it has ended.
  using KernelBody = std::function<Result<void>(model::Fabric&, std::uint32_t kernel)>;
  Result<void> launch(Thread& self, std::uint32_t kernels, std::uint32_t count,
                      const KernelBody& body, Where where);
  void abort(Thread& self, std::string_view reason, Where where);

  // ---- tasks of graphs: task_engine.cpp
  [[nodiscard]] Tasks& tasks() { return tasks_; }
  void start_task(Thread& thread, const TaskSeat& seat, const Knowledge& known,
                  std::function<void(Thread&)> body);
  Knowledge end_task(Thread& thread);  // what it leaves to those that depend on it
  // One of `count`, of which those of `among` are to be explored.
  std::uint32_t choose(const std::vector<std::uint32_t>& among, std::uint32_t count);
  void suspend(Thread& self) { fibers_.block(self, ThreadState::launching); }
  void resume(Thread& thread) { fibers_.ready(thread); }
  [[nodiscard]] bool unwinding() const { return fibers_.unwinding(); }
  [[nodiscard]] bool is_reversed() const { return reversed_; }

  static Execution* current();
  [[nodiscard]] Thread* running() { return fibers_.running(); }

 private:
  // ---- the loop: execution.cpp
  void reset();
  void seat_threads();
  Ending run_once(Scheduler& strategy);
  Ending loop(Scheduler& strategy);
  void unwind();
  [[nodiscard]] std::vector<std::uint32_t> in_order(std::uint32_t count) const;
  void count_step(Thread& self, const char* operation);
  void broke(Thread& thread, const std::optional<std::string>& threw);
  bool poll_round();
  [[nodiscard]] std::string describe_poll() const;
  bool expire_lowest();
  void did(Thread& self, const char* operation, Where where);
  void with(Thread& self, std::initializer_list<std::uint64_t> values);

  // ---- signals.cpp
  void apply(const Decision& decision);
  void take(Thread& thread, std::uint32_t look, const Bits& set);
  void learn(Thread& thread, const Cell& cell, const Bits& set, bool holds);
  void answer_again(Thread& thread);
  [[nodiscard]] std::string deposits_in_words(const Cell& cell, const Bits& set,
                                              const Bits& known) const;
  Deposit& deposit(Thread& self, std::uint32_t cell, std::uint32_t value, NotifyOp op, Order order,
                   const Maker& maker, Where where);
  void write_back(Thread& thread, const Bits& found, std::uint32_t value);
  void write_idly(Thread& thread, Cell& cell, const Bits& found);
  void check_idle_writes(Thread& self, const Cell& cell, const Deposit& set);
  [[nodiscard]] std::string read_in_words(const PendingRead& read, const Look& look) const;
  void check_clobber(Thread& self, const Cell& cell, const Deposit& deposit);
  void classify(Cell& cell, const Deposit& deposit);
  // A deposit, or a read that had to see `known`, and what is unordered with it.
  void check_scope(Thread& self, const Cell& cell, const Deposit& made);
  void check_scope(Thread& self, const Cell& cell, const Bits& known);
  [[nodiscard]] bool agree(Scope mine, const Thread& self, Scope theirs, const Thread& other) const;
  void found_scope(Thread& self, const Cell& cell, const Thread& other, Where theirs,
                   const Clock* also);
  void share(const Thread& self, Cell& cell);
  void share(const Thread& self, std::vector<Shadow>& shadows, std::uint64_t bytes, Grains touched);
  bool check_cell(Thread& self, Signal signal, Rank owner, Where where);

  // ---- caches.cpp
  enum class Stale : std::uint8_t { no, not_written_back, not_invalidated };
  struct CacheFault {  // an access, and a write that a line brings together with it
    const History::Touch& touch;
    std::uint64_t at = 0;  // the grain that was written
    bool beside = false;   // it is none of those touched
    Stamp write;
    model::Access access{};
    Stale why{};
  };
  [[nodiscard]] bool has_caches() const { return options_.profile == Profile::noncoherent; }
  static Grains lines_around(Grains touched, std::uint64_t bytes);
  void write_back_caches(Thread& self, Deposit& made, bool releases);
  void learn_of_caches(Thread& self, const Deposit& taken, bool acquires);
  void acquire_caches(Thread& self);
  void begin_caches(Thread& thread);
  void end_caches(Thread& thread);
  [[nodiscard]] Stale staleness(const Thread& self, Stamp write, bool cached) const;
  // An access to grains of so many bytes, before it is recorded.
  void check_caches(Thread& self, const std::vector<Shadow>& shadows, const History::Touch& touch,
                    std::uint64_t bytes, bool cached,
                    const std::function<std::string(std::uint64_t)>& place);
  void found_cached(Thread& self, const CacheFault& fault,
                    const std::function<std::string(std::uint64_t)>& place);
  void check_stale_update(Thread& self, Cell& cell, const Deposit& made);

  // ---- domains.cpp
  void check_domain(Thread& self, const Cell& cell, const Deposit& made);
  void check_domain(Thread& self, const Cell& cell, const Bits& known);
  void check_domain(Thread& self, const std::vector<Shadow>& shadows, const History::Touch& touch);
  void found_domain(Thread& self, const std::string& what, const Thread& other,
                    const std::string& theirs, const Clock* also, std::size_t step);
  // ---- atomics.cpp
  MemoryAccess access_of(const Thread& self, std::memory_order order, Scope scope,
                         const char* operation, Where where);
  std::optional<std::uint32_t> find_object(Thread& self, const detail::Object& of, bool is_atomic);
  bool find_memory(Thread& self);
  void take_atomic(Thread& self, WriteNumber number);
  void record_atomic(const Thread& thread, WriteNumber number);
  void remember_atomic(Thread& self, const Touched& touched, Word found, Word left);
  void tell_atomic(Thread& self, const MemoryAccess& access, const Touched& touched, Word found,
                   Word left);
  void check_object_scope(Thread& self, Object& object, ObjectUse use);
  void log_atomic(Thread& self, ScEvent event);
  Word unwound();
  static void gain(Thread& self, const Known& gained);
  static std::int64_t signed_of(const Object& object, Word value);
  void make_fence(Thread& self, const MemoryAccess& fence);
  void fence_in_order(Thread& self, const MemoryAccess& fence, Where where);
  void take_fence(Thread& self);
  // A poll for which nothing has come that it could see.
  [[nodiscard]] bool sees_nothing_new(const Thread& thread) const;
  // ---- scopes.cpp
  bool check_apart(Thread& self, LaneThreads made, Where where);

  // ---- take_backs.cpp
  void check_take_back(Thread& self, Cell& cell, const Deposit& deposit);
  void suspect(Thread& self, Cell& cell, Kind kind, std::string what, std::string missing,
               const Clock* also);
  void judge_take_backs();

  // ---- meetings.cpp
  void meet_lane(Thread& self);
  void meet_at(Thread& self, const char* kind);

  // ---- launches.cpp
  void begin_kernel(std::uint32_t rank);
  void tell_next(Thread& thread);
  void finish_thread(Thread& thread);
  void end_kernel(std::uint32_t rank);

  // ---- calls.cpp: the changes that are tried
  void change_before(Thread& self, const char* operation, Where where);
  void change_after(Thread& self, const char* operation, Where where);
  void meet_by_force(Thread& self);
  void come_behind(Thread& self);
  void meet_behind(Thread& self);

  // ---- transfers.cpp, packets.cpp
  // Those that are not asynchronous have taken effect when they return.
  [[nodiscard]] bool transfers_at_once() const {
    return options_.profile == Profile::direct || options_.profile == Profile::noncoherent;
  }
  void move_share(Thread& self, model::Span to, Rank peer, model::Span from, bool async);
  void send_with_signal(Thread& self, model::Span to, Rank peer, model::Span from,
                        const Condition& signal, NotifyOp op, Where where);
  bool check_overlap(Thread& self, model::Span to, Rank to_rank, model::Span from, Rank from_rank,
                     Where where);
  void finish_transfers(Thread& self, std::optional<Rank> peer = {});
  void copy(std::uint32_t to_rank, model::Span to, std::uint32_t from_rank, model::Span from);
  [[nodiscard]] Signal flag_of(const Thread& self, model::Span lines) const;
  void deposit_flag(Thread& self, Signal signal, Rank peer, std::uint32_t flag, bool agent,
                    Where where);
  void write_element(Thread& self, model::Span element, std::uint32_t rank, Stamp stamp,
                     const char* how);
  std::optional<std::size_t> find_counter(Thread& self, Counter counter, Where where);
  void check_counter(Thread& self, std::size_t at, model::Access how);
  // `cached`: through the cache of its core, where there are caches.
  void access(Thread& self, std::uint32_t rank, model::Span span, model::Access access, Stamp stamp,
              const char* how, bool cached = true);
  // Records an access of `self`, and what it is unordered with. `place` names a grain.
  template <class Place>
  void record_access(Thread& self, std::vector<Shadow>& shadows, History::Touch touch,
                     Viewpoint from, Place&& place, const char* how) {
    touch.thread = self.id;
    touch.epoch = self.epoch();
    touch.where = self.where;
    touch.step = trace_.last_of(self.id);
    history_.add(touch);
    check_domain(self, shadows, touch);
    if (const auto found =
            record(shadows, touch.first, touch.last, touch.access, touch.stamp, from))
      found_race(self, touch, *found, place(found->element), how);
  }

  // ---- judge.cpp, races.cpp
  Ending judge_stuck();
  void judge_end();
  void report_divergence();
  void report_other_meeting(Thread& thread);
  void report_deadlock();
  [[nodiscard]] bool was_there(const Thread& thread) const;
  [[nodiscard]] std::string describe_read(const Thread& thread) const;
  [[nodiscard]] std::string describe_atomic(const Thread& thread) const;
  void found(Thread& self, Kind kind, std::string what, std::string missing, std::string location,
             const Clock* also = nullptr, std::vector<MissingEdge> edges = {});
  void found_in(const Clock& past, Thread& self, Kind kind, std::string what, std::string missing,
                std::string location, std::vector<MissingEdge> edges = {});
  // From a step of that rank, if it has made it, to what `to` does now.
  [[nodiscard]] MissingEdge edge(std::optional<std::uint32_t> rank, std::size_t from,
                                 const Thread& to) const;
  void note_blocked();
  [[nodiscard]] std::vector<MissingEdge> edges_to_blocked() const;
  void found_race(Thread& self, const History::Touch& touch, const Conflict& conflict,
                  const std::string& place, const char* how);
  [[nodiscard]] std::string missing_edge(const Thread& self, const Thread& other,
                                         Stamp earlier) const;

  const std::function<void(model::Team&)>& body_;
  Scheduler* strategy_ = nullptr;
};

}  // namespace muster::check::engine
