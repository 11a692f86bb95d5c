// muster-peer-mpi: MPI_Barrier, timed as `muster bench` times its other contenders. Started by
// mpirun:  muster-peer-mpi WARM_UP CALLS BLOCKS [CORE...]
// Rank 0 prints one line for each block: "block NS", the longest time of all ranks per call.
#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

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

// ns per call on this rank.
double time_block(long calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (long call = 0; call < calls; ++call) MPI_Barrier(MPI_COMM_WORLD);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(calls);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) {
    std::fprintf(stderr, "usage: muster-peer-mpi WARM_UP CALLS BLOCKS [CORE...]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!pin(rank, argc - 4, argv + 4)) {
    std::perror("sched_setaffinity");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const long warm_up = std::atol(argv[1]);
  const long calls = std::atol(argv[2]);
  const long blocks = std::atol(argv[3]);
  if (warm_up > 0) time_block(warm_up);
  for (long block = 0; block < blocks; ++block) {
    const double mine = time_block(calls);
    double longest = 0;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("block %.3f\n", longest);
  }
  MPI_Finalize();
  return 0;
}
