// muster_soak_tasks: random graphs of tasks on two ranks, against a reference that runs them in
// order.
//
//   muster_soak_tasks                              a million tasks, 200 ranks killed
//   muster_soak_tasks --tasks 20000 --kills 4      the short form that ctest runs
//
// Each task has up to four deps, drawn, and computes a number from theirs. A third are waiters: the
// task that gives to one is on the other rank, puts a number into a window first, and may be
// submitted before or after it. Some are coroutines, which await a task and a signal; some have
// several blocks. Then ranks that are killed in the middle: the other one is told by each graph,
// all of whose tasks settle.
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "muster/muster.hpp"
#include "muster/task.hpp"
#include "support/options.hpp"

namespace {

using namespace muster;
using task::Coroutine;
using task::TaskId;
using task::Waiter;

constexpr std::uint32_t batch = 2000;  // tasks of one graph
constexpr std::uint32_t workers = 3;

enum class Kind : std::uint8_t { single, spmd, waiter, coroutine };

struct Step {
  Kind kind = Kind::single;
  std::vector<std::uint32_t> deps;
  bool given_first = false;  // of a waiter or a coroutine: the peer's giver is submitted before it
};

using Plan = std::vector<Step>;
using Numbers = std::vector<std::uint64_t>;

// Numbers that are drawn, the same for one seed everywhere.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(random_()); }

 private:
  std::mt19937 random_;
};

Plan draw(std::uint32_t seed) {
  Draw random(seed);
  Plan plan(batch);
  for (std::uint32_t i = 0; i < batch; ++i) {
    Step& step = plan[i];
    const std::uint32_t kind = random() % 12;
    step.kind = kind < 4   ? Kind::waiter
                : kind < 6 ? Kind::coroutine
                : kind < 7 ? Kind::spmd
                           : Kind::single;
    step.given_first = random() % 2 == 0;
    const std::uint32_t deps = i == 0 ? 0 : random() % 5;
    for (std::uint32_t dep = 0; dep < deps; ++dep)
      step.deps.push_back(i - 1 - random() % std::min(i, random() % 2 == 0 ? 8U : batch));
  }
  return plan;
}

std::uint64_t mixed(std::uint64_t number) {
  number ^= number >> 33U;
  number *= 0xff51afd7ed558ccdULL;
  return number ^ (number >> 29U);
}

// What rank `from` gives to the waiter i of the other one.
std::uint64_t given(std::uint32_t i, std::uint32_t from, std::uint32_t epoch) {
  return mixed(i * 1000003ULL + from * 17 + epoch);
}

bool waits(const Step& step) {
  return step.kind == Kind::waiter || step.kind == Kind::coroutine;
}

// The number of a task: of its deps' numbers, and of what it was given.
std::uint64_t number_of(const Plan& plan, const Numbers& numbers, std::uint32_t i,
                        std::uint64_t gift) {
  std::uint64_t sum = i + gift;
  for (const std::uint32_t dep : plan[i].deps) sum = mixed(sum + numbers[dep]);
  return sum;
}

Numbers reference(const Plan& plan, std::uint32_t rank, std::uint32_t epoch) {
  Numbers numbers(batch);
  for (std::uint32_t i = 0; i < batch; ++i)
    numbers[i] = number_of(plan, numbers, i, waits(plan[i]) ? given(i, 1 - rank, epoch) : 0);
  return numbers;
}

struct Memory {
  WindowRef<std::uint64_t> gifts;  // one for each task
  Signals come;                    // epoch of each gift
};

// One graph on one rank.
class Batch {
 public:
  Batch(Team& team, const Plan& plan, const Memory& memory, std::uint32_t epoch)
      : plan_(plan), memory_(memory), epoch_(epoch), graph_(team, {.workers = workers}) {
    numbers_.resize(batch);
    blocks_.resize(batch);
  }

  // `die_at`: the task in which this rank is killed.
  Result<void> run(std::uint32_t die_at) {
    for (std::uint32_t i = 0; i < batch; ++i) {
      const bool first = plan_[i].given_first;
      if (waits(plan_[i]) && first) submit_giver(i);
      submit(i, i == die_at);
      if (waits(plan_[i]) && !first) submit_giver(i);
    }
    return graph_.wait_all();
  }
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  [[nodiscard]] std::uint64_t unfinished() const { return graph_.unfinished(); }

 private:
  // No deps: nothing that waits can keep it back.
  void submit_giver(std::uint32_t i) {
    graph_.submit("give", {}, [this, i](auto& fabric) {
      const Rank peer = right_of(fabric);
      fabric.address(memory_.gifts, peer)[i] = given(i, fabric.rank().value, epoch_);
      fabric.notify(memory_.come[i], peer, epoch_, NotifyOp::set);
    });
  }

  void submit(std::uint32_t i, bool dies) {
    const Step& step = plan_[i];
    std::vector<TaskId> deps;
    for (const std::uint32_t dep : step.deps) deps.push_back(ids_[dep]);
    const Condition come{memory_.come[i], Compare::ge, epoch_};
    const auto compute = [this, i, dies, gets = waits(step)](auto& fabric) {
      if (dies) raise(SIGKILL);
      numbers_[i] =
          number_of(plan_, numbers_, i, gets ? std::uint64_t{fabric.local(memory_.gifts)[i]} : 0);
    };
    if (step.kind == Kind::waiter) {
      // The deps of the waiter are looked at by the task behind it: seen through the waiter.
      const TaskId arrived = graph_.submit_waiter("wait", deps, [come](Waiter& waiter) {
        waiter.defer_wait(come.signal, come.compare, come.value);
      });
      ids_.push_back(graph_.submit("take", {arrived}, compute));
    } else if (step.kind == Kind::coroutine) {
      const TaskId other = ids_.empty() ? TaskId{} : ids_[i / 2];
      ids_.push_back(graph_.submit("coroutine", deps, [=](auto& fabric) -> Coroutine {
        if (other.graph != 0) {
          const Result<void> ended = co_await other;
          ended.value();
        }
        const Result<void> arrived = co_await come;
        arrived.value();
        compute(fabric);
      }));
    } else if (step.kind == Kind::spmd) {
      const TaskId blocks = graph_.submit_spmd(
          "blocks", 4, deps, [this, i](auto&, std::uint32_t block) { blocks_[i][block] = 1; });
      ids_.push_back(graph_.submit("all", {blocks}, [this, i, compute](auto& fabric) {
        const auto& done = blocks_[i];
        if (std::count(std::begin(done.each), std::end(done.each), 1) == 4) compute(fabric);
      }));
    } else {
      ids_.push_back(graph_.submit("task", deps, compute));
    }
  }

  struct Blocks {
    int each[4] = {};
    int& operator[](std::uint32_t block) { return each[block]; }
  };

  const Plan& plan_;
  const Memory& memory_;
  std::uint32_t epoch_;
  Numbers numbers_;
  std::vector<Blocks> blocks_;
  std::vector<TaskId> ids_;
  task::Graph<Team> graph_;
};

Memory memory_of(Team& team) {
  return {*team.window<std::uint64_t>({batch}), *team.signals(batch)};
}

Result<void> soak_rank(Team& team, std::uint64_t tasks, std::uint32_t seed) {
  const Memory memory = memory_of(team);
  const std::uint32_t rank = team.rank().value;
  std::uint32_t epoch = 0;
  for (std::uint64_t done = 0; done < tasks; done += batch) {
    const Plan plan = draw(seed + ++epoch);
    Batch graph(team, plan, memory, epoch);
    if (const auto ended = graph.run(batch); !ended) return ended;
    if (graph.numbers() != reference(plan, rank, epoch)) {
      return Error{ErrorCode::mismatch, fmt::format("rank {}, graph {} (--seed {}): the numbers "
                                                    "differ from the reference's",
                                                    rank, epoch, seed)};
    }
    if (const auto met = team.sync(); !met) return met;  // the gifts have been read
  }
  return {};
}

// How the rank that lives has seen it; on pages that its process shares with this one.
enum class Seen : std::uint32_t { nothing, well, odd };

Seen outcome(Batch& graph) {
  bool told = false;
  try {
    const Result<void> ended = graph.run(batch);
    // It may have had all that it needs before the other one died.
    told = ended || ended.error().code == ErrorCode::peer_lost;
  } catch (const Failure& failure) {  // out of a coroutine
    told = failure.error().code == ErrorCode::peer_lost;
  }
  return told && graph.unfinished() == 0 ? Seen::well : Seen::odd;
}

// Rank 1 is killed in a task that is drawn. Rank 0 must hear of it, and all its tasks settle.
bool kill_one(std::uint32_t seed) {
  const Plan plan = draw(seed);
  const std::uint32_t die_at = Draw(seed)() % batch;
  void* const page =
      mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  Seen& seen = *static_cast<Seen*>(page);
  const int status = run({.ranks = 2}, [&](Team& team) -> Result<void> {
    const Memory memory = memory_of(team);
    Batch graph(team, plan, memory, 1);
    if (team.rank() == Rank{1}) return graph.run(die_at);
    seen = outcome(graph);
    return {};
  });
  const bool right = status == 128 + SIGKILL && seen == Seen::well;
  if (!right)
    fmt::print("a rank was killed (--seed {}): the job ended with {}, and the other rank {}\n",
               seed, status, seen == Seen::nothing ? "too" : "was told something else");
  munmap(page, sizeof(Seen));
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t tasks = 1'000'000;
  std::uint32_t kills = 200;
  std::uint32_t seed = 1;
  testing::Options options("Random graphs of tasks, against a sequential reference.");
  options.add("--tasks", tasks, "Tasks on each of two ranks, in graphs of 2000");
  options.add("--kills", kills, "Jobs in which a rank is killed");
  options.add("--seed", seed, "Of what is drawn");
  if (!options.parse(argc, argv)) return options.exit_code();
  // Those first: a process that has run tasks cannot be forked.
  for (std::uint32_t i = 0; i < kills; ++i) {
    if (!kill_one(seed + i)) return 1;
  }
  fmt::print("{} ranks killed: ok\n", kills);
  const RunOptions ranks{.ranks = 2, .as = threads};
  if (run(ranks, [&](Team& team) { return soak_rank(team, tasks, seed); }) != 0) return 1;
  fmt::print("{} tasks on each of 2 ranks, in random graphs: ok\n", tasks);
  return 0;
}
