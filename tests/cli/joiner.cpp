// A rank that whoever may have started: joins its job and meets the others in the job's memory.
// Prints "LAUNCHER: rank R of P saw the sum S" where S adds what all ranks left there.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "launch/environment.hpp"
#include "launch/rendezvous.hpp"

namespace {

using namespace muster;

struct Shared {
  std::atomic<std::uint32_t> sum;
  std::atomic<std::uint32_t> come;
};

Result<int> new_memory() {
  const int fd = memfd_create("joiner", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, sizeof(Shared)) == 0) return fd;
  return Error{ErrorCode::system, "there is no shared memory"};
}

int join() {
  const auto started = launcher::detect();
  if (!started) {
    fmt::print(stderr, "{}\n", started.error().what);
    return 2;
  }
  if (!*started) {
    fmt::print("nobody started this\n");
    return 0;
  }
  const launcher::LaunchedBy& self = **started;
  const auto fd = launcher::rendezvous(self, new_memory);
  if (!fd) {
    fmt::print(stderr, "{}\n", fd.error().what);
    return 1;
  }
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  if (memory == MAP_FAILED) return 3;
  auto* shared = static_cast<Shared*>(memory);
  shared->sum += self.rank + 1;
  ++shared->come;
  while (shared->come < self.ranks) std::this_thread::yield();
  fmt::print("{}: rank {} of {} saw the sum {}\n", name_of(self.launcher), self.rank, self.ranks,
             shared->sum.load());
  return 0;
}

}  // namespace

int main() {
  return join();
}
