// muster-peer-mpi: MPI's operations, timed as `muster bench` times its other contenders. Started by
// mpirun:  muster-peer-mpi OPERATION BYTES WARM_UP CALLS BLOCKS [CORE...]
// Rank 0 prints one line for each block: "block NS", the longest time of all ranks per call.
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Command {
  std::string operation;
  int bytes = 0;
  long warm_up = 0;
  long calls = 0;
  long blocks = 0;
};

void give_up(const char* why, int status) {
  std::fprintf(stderr, "muster-peer-mpi: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, status);
}

bool pin(int rank, int cores, char** core) {
  if (cores == 0) return true;
  const auto mine = static_cast<std::size_t>(std::atoi(core[rank % cores]));
  cpu_set_t* set = CPU_ALLOC(mine + 1);
  const std::size_t size = CPU_ALLOC_SIZE(mine + 1);
  CPU_ZERO_S(size, set);
  CPU_SET_S(mine, size, set);
  const bool pinned = sched_setaffinity(0, size, set) == 0;
  CPU_FREE(set);
  return pinned;
}

// The ranks of the job, and a window on each: its flag, and from the next page on the slots for
// messages. One epoch of passive targets holds for the whole run.
class Job {
 public:
  Job(int bytes, int slots) : bytes_(bytes), own_(size_of(bytes, slots), 1) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const MPI_Aint size = slot(slots);
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_);
    std::memset(memory_, 0, static_cast<std::size_t>(size));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~Job() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // A deposit into the right neighbour's flag, and a wait for the left one's.
  void notify() {
    raise_flag();
    await_flag();
  }
  void put() {
    put_to(right(), 0);
    MPI_Win_flush(right(), window_);
    notify();
  }
  void get() {
    notify();
    const int left = (rank_ + ranks_ - 1) % ranks_;
    MPI_Get(own_.data(), bytes_, MPI_BYTE, left, slot(0), bytes_, MPI_BYTE, window_);
    MPI_Win_flush(left, window_);
  }
  void add() {
    const int count = bytes_ / static_cast<int>(sizeof(std::int32_t));
    MPI_Accumulate(own_.data(), count, MPI_INT32_T, right(), slot(0), count, MPI_INT32_T, MPI_SUM,
                   window_);
    MPI_Win_flush(right(), window_);
    notify();
  }
  // To every peer, and what arrived is copied out, as muster's contenders do. Two sets of slots
  // take turns: the barrier of the next call tells that a set has been read.
  void exchange_by_puts() {
    const int first = ++epoch_ % 2 * ranks_;
    for (int step = 1; step < ranks_; ++step) put_to((rank_ + step) % ranks_, first + rank_);
    MPI_Win_flush_all(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window_);
    for (int step = 1; step < ranks_; ++step) {
      const int peer = first + (rank_ + step) % ranks_;
      std::memcpy(own_.data() + slot(peer) - slot(0), memory_ + slot(peer),
                  static_cast<std::size_t>(bytes_));
    }
  }
  void exchange_by_alltoall() {
    MPI_Alltoall(own_.data(), bytes_, MPI_BYTE, memory_ + slot(0), bytes_, MPI_BYTE,
                 MPI_COMM_WORLD);
  }

 private:
  static std::size_t size_of(int bytes, int slots) {
    return static_cast<std::size_t>(bytes) * static_cast<std::size_t>(slots);
  }
  [[nodiscard]] int right() const { return (rank_ + 1) % ranks_; }
  [[nodiscard]] MPI_Aint slot(int index) const {
    constexpr MPI_Aint page = 4096;
    return page + MPI_Aint{bytes_} * index;
  }

  void put_to(int peer, int index) {
    MPI_Put(own_.data(), bytes_, MPI_BYTE, peer, slot(index), bytes_, MPI_BYTE, window_);
  }

  void raise_flag() {
    ++epoch_;
    MPI_Put(&epoch_, 1, MPI_INT32_T, right(), 0, 1, MPI_INT32_T, window_);
    MPI_Win_flush(right(), window_);
  }

  // A load of the own memory, which is MPI's unified model. After some looks the library is called
  // as well: its progress may be needed, and it yields the core where it was told to.
  void await_flag() {
    constexpr int looks = 100;
    const std::atomic_ref<std::int32_t> flag(*reinterpret_cast<std::int32_t*>(memory_));
    for (int look = 0; flag.load(std::memory_order_acquire) - epoch_ < 0; ++look) {
      if (look < looks) continue;
      MPI_Win_sync(window_);
      int found = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
  }

  int bytes_;
  int rank_ = 0;
  int ranks_ = 0;
  std::int32_t epoch_ = 0;
  char* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<char> own_;  // what is sent, and where a get and an exchange end
};

// ns per call on this rank.
template <class Call>
double time_block(long calls, const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(calls);
}

template <class Call>
void time_blocks(const Command& command, const Call& call) {
  if (command.warm_up > 0) time_block(command.warm_up, call);
  for (long block = 0; block < command.blocks; ++block) {
    const double mine = time_block(command.calls, call);
    double longest = 0;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("block %.3f\n", longest);
  }
}

// An operation that moves messages through so many slots of each rank.
void time_transfers(const Command& command, int slots, void (Job::*operation)()) {
  Job job(command.bytes, slots);
  time_blocks(command, [&] { (job.*operation)(); });
}

// Collectives of floats on memory of their own; `parts` of the message on each side.
class Collectives {
 public:
  Collectives(int bytes, int ranks)
      : count_(bytes / static_cast<int>(sizeof(float))),
        to_(size_of(ranks)),
        from_(size_of(ranks)) {}

  void allreduce() {
    MPI_Allreduce(from_.data(), to_.data(), count_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  void reduce_scatter() {
    MPI_Reduce_scatter_block(from_.data(), to_.data(), count_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  void allgather() {
    MPI_Allgather(from_.data(), count_, MPI_FLOAT, to_.data(), count_, MPI_FLOAT, MPI_COMM_WORLD);
  }
  void reduce() {
    MPI_Reduce(from_.data(), to_.data(), count_, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  void gather() {
    MPI_Gather(from_.data(), count_, MPI_FLOAT, to_.data(), count_, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
  void scatter() {
    MPI_Scatter(from_.data(), count_, MPI_FLOAT, to_.data(), count_, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
  void bcast() { MPI_Bcast(to_.data(), count_, MPI_FLOAT, 0, MPI_COMM_WORLD); }
  void alltoall() {
    MPI_Alltoall(from_.data(), count_, MPI_FLOAT, to_.data(), count_, MPI_FLOAT, MPI_COMM_WORLD);
  }

 private:
  [[nodiscard]] std::size_t size_of(int ranks) const {
    return static_cast<std::size_t>(count_) * static_cast<std::size_t>(ranks);
  }
  int count_;
  std::vector<float> to_;
  std::vector<float> from_;
};

// Does `command` name a collective? Then it is timed.
bool time_collective(const Command& command, int ranks) {
  const std::pair<const char*, void (Collectives::*)()> all[] = {
      {"allreduce", &Collectives::allreduce}, {"reduce_scatter", &Collectives::reduce_scatter},
      {"allgather", &Collectives::allgather}, {"bcast", &Collectives::bcast},
      {"alltoall", &Collectives::alltoall},   {"reduce", &Collectives::reduce},
      {"gather", &Collectives::gather},       {"scatter", &Collectives::scatter},
  };
  for (const auto& [name, call] : all) {
    if (command.operation != name) continue;
    Collectives collectives(command.bytes, ranks);
    time_blocks(command, [&, call = call] { (collectives.*call)(); });
    return true;
  }
  return false;
}

void run(const Command& command) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string& name = command.operation;
  if (name == "barrier")
    time_blocks(command, [] { MPI_Barrier(MPI_COMM_WORLD); });
  else if (name == "notify")
    time_transfers(command, 0, &Job::notify);
  else if (name == "put")
    time_transfers(command, 1, &Job::put);
  else if (name == "get")
    time_transfers(command, 1, &Job::get);
  else if (name == "add")
    time_transfers(command, 1, &Job::add);
  else if (name == "exchange_by_puts")
    time_transfers(command, 2 * ranks, &Job::exchange_by_puts);
  else if (name == "exchange_by_alltoall")
    time_transfers(command, ranks, &Job::exchange_by_alltoall);
  else if (!time_collective(command, ranks))
    give_up(("there is no operation '" + name + "'").c_str(), 2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  constexpr int fixed = 6;
  if (argc < fixed)
    give_up("usage: muster-peer-mpi OPERATION BYTES WARM_UP CALLS BLOCKS [CORE...]", 2);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!pin(rank, argc - fixed, argv + fixed))
    give_up((std::string("sched_setaffinity: ") + std::strerror(errno)).c_str(), 1);
  run({argv[1], std::atoi(argv[2]), std::atol(argv[3]), std::atol(argv[4]), std::atol(argv[5])});
  MPI_Finalize();
  return 0;
}
