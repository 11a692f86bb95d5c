// One execution: the state of the model, and the loop that runs its fibers.
//
// All operations that read no signal run as soon as their thread can; where every thread is
// blocked, a Scheduler decides which read goes on and what it takes.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/groups.hpp"
#include "check/history.hpp"
#include "check/memory.hpp"
#include "check/record.hpp"
#include "check/stack_pool.hpp"
#include "check/thread.hpp"
#include "check/where.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

struct Decision {
  enum class Action : std::uint8_t { none, take, expire, again, leave } action = Action::none;
  std::uint32_t thread = 0;
  std::uint32_t look = 0;
  const Bits* set = nullptr;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual void begin() {}
  // Every thread is blocked or done, and at least one is at a read.
  virtual Decision pick(Execution& run) = 0;
  // A deposit has been appended to the cell.
  virtual void deposited(Execution&, std::uint32_t /*cell*/) {}
};

// A read that was answered, for the judgement of condition D.
struct Taken {
  ReadKind kind = ReadKind::wait;
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::uint32_t cell = 0;
  std::uint32_t looks = 1;
  Compare compare = Compare::ge;
  std::uint32_t value = 0;
  Order order = Order::acquire;
  Bits must;
  Bits set;
  Where where;
};

enum class Ending : std::uint8_t {
  done,     // every set-up returned
  stuck,    // the rest is blocked for good: there is a finding
  dropped,  // a read that was put off got no new deposit
  stopped,  // after a finding that nothing sensible can follow
  polls,    // a thread polls, and nothing can come any more: see polling()
  halted,   // Options::halt
  lost,     // the same answers have led elsewhere than before
};

// The windows and counters as an execution left them.
struct Memory {
  std::vector<std::vector<std::vector<std::byte>>> windows;  // by segment and rank
  std::vector<std::uint32_t> counters;
};

// A thing that happened, kept where the execution is traced.
struct Step {
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::string what;
  Where where;
};

// What is known about a cell over all executions of one exploration: the search treats it as
// value-sensitive once anything but adds and growing sets, awaited with ge or gt, was seen.
struct Sensitivity {
  std::set<std::uint64_t> cells;    // by rank and number
  std::set<std::uint64_t> several;  // cells with more than one reading thread
  bool changed = false;
  [[nodiscard]] static std::uint64_t key(std::uint32_t rank, std::uint32_t number) {
    return (std::uint64_t{rank} << 32U) | number;
  }
  void mark(std::uint64_t cell) { changed = cells.insert(cell).second || changed; }
  void mark_several(std::uint64_t cell) { changed = several.insert(cell).second || changed; }
};

// How often in a row a poll is answered as the last time, where that is tried.
constexpr std::uint32_t spins_at_once = 100;

class OverflowGuard;

class Execution {
 public:
  Execution(const Options& options, const std::function<void(model::Team&)>& body);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  Ending run(Scheduler& strategy);

  // ---- what happened, for strategies, the certificate and reports
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] std::vector<Thread>& threads() { return threads_; }
  [[nodiscard]] Cell& cell(std::uint32_t index) { return cells_[index]; }
  [[nodiscard]] std::uint32_t cells() const { return static_cast<std::uint32_t>(cells_.size()); }
  [[nodiscard]] const std::vector<Taken>& taken() const { return taken_; }
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] const std::vector<Step>& trace() const { return trace_; }
  // The clock whose past the first finding's past is.
  [[nodiscard]] const Clock& finding_past() const { return finding_past_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint32_t expired() const { return expired_; }
  [[nodiscard]] bool aborted() const { return aborted_; }
  [[nodiscard]] bool halted() const { return halted_; }
  // Window data, an expectation, a barrier's calls or a promise: something to be right or wrong.
  [[nodiscard]] bool has_substance() const { return has_substance_; }
  [[nodiscard]] bool spun() const { return spun_; }  // polls were answered as the last time
  [[nodiscard]] Sensitivity& sensitivity() { return sensitivity_; }
  [[nodiscard]] Groups& groups() { return groups_; }
  [[nodiscard]] std::vector<std::uint64_t> outcome() const;
  [[nodiscard]] std::vector<Site> sites() const;
  [[nodiscard]] const std::vector<Cost>& costs() const { return costs_; }
  // Who polled without an end, and where; empty where nobody did.
  [[nodiscard]] const std::string& polling() const { return polling_; }
  // A poll that saw nothing new was answered again, or put off.
  [[nodiscard]] bool polled() const { return polled_; }
  [[nodiscard]] std::string describe_poll() const;
  // For mirror.hpp.
  void keep_record(bool keep) { recording_ = keep; }
  [[nodiscard]] bool is_recorded() const { return recording_; }
  [[nodiscard]] const Record& recorded() const { return record_; }
  void reverse(bool reversed) { reversed_ = reversed; }
  [[nodiscard]] Memory memory() const;
  // Where the memory is not as it was then; empty where it is, or where it depends on the order in
  // which inexact numbers were added.
  [[nodiscard]] std::string first_difference(const Memory& other) const;
  void keep_trace(bool keep) { tracing_ = keep; }
  void keep_sites(bool keep) { keeping_sites_ = keep; }
  // Thread::state is reading, and something it may take has come since it was put off.
  [[nodiscard]] bool awaits_decision(const Thread& thread) const;
  [[nodiscard]] bool satisfied_in_full(const Thread& thread) const;
  // sc: is there one order of everything that explains what was read?
  [[nodiscard]] bool explained_by_one_order() const;
  // sc: something was wrong that no one order explains, and was passed over.
  [[nodiscard]] bool unexplained() const { return unexplained_; }
  // sc: every set of every read is tried, not only the minimal ones.
  void exact_sc(bool exact);
  [[nodiscard]] bool is_exact_sc() const { return exact_sc_; }

  // ---- names
  [[nodiscard]] std::string name_of_cell(const Cell& cell) const;
  [[nodiscard]] std::string name_of_thread(const Thread& thread) const;
  [[nodiscard]] std::string describe_read(const Thread& thread) const;

  // ---- the operations of the fabric; each begins with step()
  void converge(Thread& self, WaitStatus& status, const char* kind, Where where);
  void broadcast(Thread& self, void* value, std::size_t size, Where where);
  void notify(Thread& self, Signal signal, Rank peer, std::uint32_t value, NotifyOp op, Order order,
              Where where);
  WaitStatus read_signal(Thread& self, ReadKind kind, const Condition* conditions,
                         std::uint32_t count, Rank owner, Order order, Where where);
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
  void changes(Thread& self);
  bool begin_packets(Thread& self, model::Span lines, Rank peer, std::uint32_t flag, Where where);
  void* put_packet(Thread& self, model::Span element, Rank peer);
  void end_packets(Thread& self, model::Span lines, Rank peer, std::uint32_t flag, Where where);
  WaitStatus wait_packets(Thread& self, model::Span lines, std::uint32_t flag, Where where);
  void* read_packet(Thread& self, model::Span element);
  void clear_packets(Thread& self, model::Span lines, Where where);
  void flush(Thread& self, Where where);
  void describe(Thread& self, const CallSignature& call);
  void enter_call(Thread& self, std::uint32_t barrier, model::BarrierScope scope, Where where);
  void leave_call(Thread& self, std::uint32_t barrier, WaitStatus status, Where where);
  void record_outcome(Thread& self, std::uint64_t value);
  void expect(Thread& self, bool holds, std::string_view what, Where where);
  bool check_rank(Thread& self, Rank rank, Where where);
  bool contract(Thread& self, bool holds, std::string_view what, Where where);
  void step(Thread& self, const char* operation, Where where);
  void note(Thread& self, Where where, std::string what);  // only while tracing
  [[nodiscard]] bool tracing() const { return tracing_; }

  // ---- set-up calls
  struct SetupCall {
    std::string what;  // the call with its arguments, the same on every rank
    std::uint32_t first = 0;
    std::uint32_t arrived = 0;
    Where where;
  };
  // Meets the other ranks at the self's next set-up call; make() runs once, on the first arrival.
  std::uint32_t meet(Thread& self, const std::string& what,
                     const std::function<std::uint32_t()>& make, Where where);
  std::uint32_t new_segment(std::uint64_t bytes, std::uint32_t element, const std::string& name);
  // The cells that the flags of packets in this segment are.
  void make_slots(std::uint32_t segment);
  [[nodiscard]] bool has_window(const std::string& name) const;
  [[nodiscard]] std::uint64_t segment_bytes(std::uint32_t segment) const;
  std::uint32_t new_cells(std::uint32_t count, const std::string& name, std::uint32_t ranks);
  std::uint32_t new_counters(std::uint32_t count);
  [[nodiscard]] std::uint32_t counters_of(std::uint32_t first_cell) const;
  void free_segment(Thread& self, std::uint32_t segment, Where where);
  void free_cells(Thread& self, std::uint32_t first, std::uint32_t count, Where where);
  void promise_zero(Thread& self, std::uint32_t first, std::uint32_t count);
  Result<void> launch(Thread& self, std::uint32_t count,
                      const std::function<Result<void>(model::Fabric&)>& body, Where where);
  void abort(Thread& self, std::string_view reason, Where where);

  static Execution* current();
  [[nodiscard]] Thread* running() { return running_; }

 private:
  struct Block {  // a run of cells that was made together
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t ranks = 0;     // of rows; 0: signals
    std::uint32_t counters = 0;  // the first one of rows
    std::string name;
  };
  struct Agent {  // a transfer with a component of its own: done at epoch 1; its signal at epoch 2
    std::uint32_t thread = 0;  // who issued it
    std::uint32_t target = 0;
    bool is_put = false;  // a release notify to the target carries it
  };
  struct Described {  // the first call of its number on a lane
    std::uint32_t rank = 0;
    CallSignature call;
    std::source_location where;
  };
  struct Launch {
    std::uint32_t lanes = 0;
    Where where;
  };
  struct Entry {  // a thread that entered a barrier
    std::uint32_t rank = 0;
    std::uint32_t lane = 0;
    Stamp stamp;
  };

  // sc only: reads and deposits in the order of execution.
  struct Logged {
    bool reads = false;
    std::uint32_t cell = 0;
    std::uint32_t deposit = 0;
    Bits set;
    Stamp stamp;
    Clock cause;
  };

  void reset();
  Ending loop(Scheduler& strategy);
  bool resume_guarded(Thread& thread);
  [[nodiscard]] std::vector<std::uint32_t> in_order(std::uint32_t count) const;
  void count_step(Thread& self, const char* operation);
  void did(Thread& self, const char* operation, Where where);
  void with(Thread& self, std::initializer_list<std::uint64_t> values);
  [[nodiscard]] static std::uint64_t poll_key(const PendingRead& read);
  [[nodiscard]] bool poll_again(Thread& self);
  void remember_poll(Thread& self, std::uint32_t which, const Bits& set);
  void answer_again(Thread& self);
  bool poll_round();
  [[nodiscard]] bool sees_nothing_new(const Thread& thread) const;
  bool expire_lowest();
  void start(Thread& thread, std::function<void(Thread&)> body);
  void resume(Thread& thread);
  void block(Thread& self, ThreadState state);
  void ready(Thread& thread);
  void run_ready();
  void finish_lane(Thread& thread);
  void unwind();
  Ending judge_stuck();
  void judge_end();
  void report_divergence_or_deadlock();
  [[nodiscard]] bool was_there(const Thread& thread) const;
  void apply(const Decision& decision);
  void take(Thread& thread, std::uint32_t look, const Bits& set);
  [[nodiscard]] std::string deposits_in_words(const Cell& cell, const Bits& set,
                                              const Bits& known) const;

  [[nodiscard]] LaneThreads lane_of(const Thread& self) const;
  Deposit& deposit(Thread& self, std::uint32_t cell, std::uint32_t value, NotifyOp op, Order order,
                   const Bits* after, bool own_agent, Where where);
  void check_clobber(Thread& self, const Cell& cell, const Deposit& deposit);
  void check_take_back(Thread& self, Cell& cell, const Deposit& deposit);
  void suspect(Thread& self, Cell& cell, Kind kind, std::string what, std::string missing,
               const Clock* also);
  void judge_take_backs();
  void classify(Cell& cell, const Deposit& deposit);
  void meet_lane(Thread& self);
  [[nodiscard]] Order changed_order(const char* operation, Order order, Where where);
  [[nodiscard]] bool changed(const char* operation, Where where, Change change);
  void change_before(Thread& self, const char* operation, Where where);
  void change_after(Thread& self, const char* operation, Where where);
  void meet_by_force(Thread& self);
  void find_converge_after();
  void come_behind(Thread& self);
  void meet_behind(Thread& self);
  void meet_at(Thread& self, const char* kind);
  void move_share(Thread& self, model::Span to, Rank peer, model::Span from, bool async);
  void send_with_signal(Thread& self, model::Span to, Rank peer, model::Span from,
                        const Condition& signal, NotifyOp op, Where where);
  bool check_overlap(Thread& self, model::Span to, Rank to_rank, model::Span from, Rank from_rank,
                     Where where);
  void finish_transfers(Thread& self);
  void finish_transfers_of(Thread& self, const Thread* first, const Thread* last);
  void complete_loads(Thread& self);
  void acquire(Thread& self, const Clock& events);
  [[nodiscard]] Signal flag_of(const Thread& self, model::Span lines) const;
  void deposit_flag(Thread& self, Signal signal, Rank peer, std::uint32_t flag, bool agent,
                    Where where);
  void copy(std::uint32_t to_rank, model::Span to, std::uint32_t from_rank, model::Span from);
  std::size_t counter_at(Thread& self, Counter counter, Where where);
  void check_counter(Thread& self, std::size_t at, model::Access how);

  [[nodiscard]] std::uint32_t cell_index(std::uint32_t rank, std::uint32_t number) const;
  void share(const Thread& self, Cell& cell);
  bool check_cell(Thread& self, Signal signal, Rank owner, Where where);
  [[nodiscard]] std::uint32_t channel(const Thread& thread, std::uint32_t target) const;
  Stamp next_on_channel(Thread& thread, std::uint32_t target);
  Stamp new_agent(Thread& thread, std::uint32_t target, bool is_put);
  [[nodiscard]] Stamp last_agent(std::uint32_t epoch) const;
  [[nodiscard]] std::uint32_t agent_component(std::size_t agent) const;
  // The component of the thread's loads.
  [[nodiscard]] std::uint32_t loads_of(const Thread& thread) const;
  [[nodiscard]] Clock ended_with_loads(const Thread& thread) const;
  [[nodiscard]] Clock carried_to(const Thread& self, std::uint32_t target) const;
  // The thread's event that a stamp belongs to, for who asks about causality.
  [[nodiscard]] Stamp event_of(Stamp stamp) const;
  // Records an access of `self`, and what it is unordered with. `place` names a grain.
  template <class Place>
  void record_access(Thread& self, std::vector<Shadow>& shadows, History::Touch touch,
                     Viewpoint from, Place&& place, const char* how) {
    touch.thread = self.id;
    touch.epoch = self.epoch();
    touch.where = self.where;
    history_.add(touch);
    if (const auto found =
            record(shadows, touch.first, touch.last, touch.access, touch.stamp, from))
      found_race(self, touch, *found, place(found->element), how);
  }
  void access(Thread& self, std::uint32_t rank, model::Span span, model::Access access, Stamp stamp,
              const char* how);
  [[nodiscard]] std::string other_lanes(Kind kind) const;
  void found(Thread& self, Kind kind, std::string what, std::string missing, std::string location,
             const Clock* also = nullptr);
  void found_race(Thread& self, const History::Touch& touch, const Conflict& conflict,
                  const std::string& place, const char* how);
  [[nodiscard]] std::string missing_edge(const Thread& self, const Thread& other,
                                         Stamp earlier) const;
  [[nodiscard]] const Thread& thread_of(Stamp stamp) const;
  [[nodiscard]] std::string location(const Segment& segment, std::uint64_t element,
                                     std::uint32_t rank) const;

  Options options_;
  const std::function<void(model::Team&)>& body_;
  StackPool stacks_;
  std::vector<Thread> threads_;
  std::uint32_t per_rank_ = 0;  // threads of a rank, with its set-up
  std::uint32_t static_components_ = 0;
  std::deque<std::uint32_t> ready_;
  boost::context::fiber main_;
  Thread* running_ = nullptr;
  bool unwinding_ = false;
  bool stop_ = false;
  bool aborted_ = false;
  bool unexplained_ = false;
  bool exact_sc_ = false;
  bool halted_ = false;
  bool given_up_ = false;  // a poll was answered the same for long enough
  bool polled_ = false;
  bool spun_ = false;
  bool inexact_ = false;
  bool has_substance_ = false;
  bool reversed_ = false;
  bool recording_ = false;
  Record record_;
  std::string polling_;
  std::uint64_t poll_rounds_ = 0;  // one after another, in which nothing changed
  std::uint64_t most_rounds_ = 10'000;
  std::uint64_t changes_here_ = 0;  // writes and deposits of all threads
  Scheduler* strategy_ = nullptr;
  std::string converge_file_;
  std::uint32_t converge_line_ = 0;

  std::vector<Cell> cells_;  // by number, then rank
  std::uint32_t cell_numbers_ = 0;
  std::vector<Block> blocks_;
  std::vector<Segment> segments_;
  std::uint32_t segment_count_ = 0;
  std::vector<std::uint32_t> counters_;  // number by rank
  std::vector<Shadow> counter_shadows_;
  std::uint32_t counter_numbers_ = 0;
  std::vector<SetupCall> setup_calls_;
  std::vector<Agent> agents_;
  std::map<std::uint64_t, Described> described_;         // by lane and number
  std::vector<std::vector<Launch>> launches_;            // by rank
  std::map<std::uint64_t, std::vector<Entry>> entries_;  // by barrier and call
  std::vector<std::byte> scratch_;

  std::vector<Cost> costs_;
  std::vector<Taken> taken_;
  std::vector<Finding> findings_;
  Clock finding_past_;
  std::vector<Step> trace_;
  bool tracing_ = false;
  bool keeping_sites_ = false;
  std::map<std::string, Site> sites_;
  std::uint64_t steps_ = 0;
  std::uint32_t expired_ = 0;
  Sensitivity sensitivity_;
  Groups groups_;
  std::vector<Logged> log_;
  History history_;
  std::uint64_t steps_here_ = 0;
  std::uint64_t steps_unasked_ = 0;  // in all executions
  OverflowGuard* guard_ = nullptr;
};

}  // namespace muster::check::engine
