// What the host fabric needs, each tried for real.
#include <fmt/format.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>

#include "base/fd.hpp"
#include "cli/info_report.hpp"
#include "fabric/host/liveness.hpp"
#include "fabric/host/memory_info.hpp"
#include "launch/binding.hpp"

namespace muster::cli {
namespace {

std::string reason() {
  return std::strerror(errno);
}

// Empty where it works, else why not: so with each of these.

std::string try_shared_memory() {
  const Fd memory(static_cast<int>(syscall(SYS_memfd_create, "muster-info", MFD_CLOEXEC)));
  if (!memory.is_open()) return "memfd_create: " + reason();
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) return "ftruncate: " + reason();
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (page == MAP_FAILED) return "mmap: " + reason();
  *static_cast<volatile char*>(page) = 1;
  munmap(page, bytes);
  return {};
}

// The form between processes: without the private flag.
std::string try_futex() {
  std::uint32_t word = 1;
  if (syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0) < 0) return reason();
  const long waited = syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  return waited < 0 && errno == EAGAIN ? std::string() : "FUTEX_WAIT: " + reason();
}

std::string try_process_handle() {
  const Fd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  return self.is_open() ? std::string() : reason();
}

std::string try_membarrier() {
  for (const int command :
       {MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, MEMBARRIER_CMD_GLOBAL_EXPEDITED}) {
    if (syscall(SYS_membarrier, command, 0, 0) < 0) return reason();
  }
  return {};
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

Finding cores_finding() {
  const auto cores = launcher::allowed_cores();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return {"cores",
          {{"online", online}, {"allowed", cores}},
          fmt::format("{} of {} may be used: {}", cores.size(), online, as_ranges(cores))};
}

Finding bytes_finding(std::string key, std::uint64_t bytes) {
  return {std::move(key), bytes, host::format_bytes(bytes)};
}

}  // namespace

Section host_section() {
  utsname system{};
  uname(&system);
  Section section{"host", {}, {}};
  const std::string kernel =
      fmt::format("{} {}, {}", system.sysname, system.release, system.machine);
  section.findings.push_back({"kernel", kernel, kernel});
  section.findings.push_back({"processor", processor(), processor()});
  section.findings.push_back(cores_finding());
  section.findings.push_back(bytes_finding("memory_total", host::total_memory()));
  section.findings.push_back(bytes_finding("memory_available", host::available_memory()));
  for (Finding& finding : limit_findings()) section.findings.push_back(std::move(finding));

  const std::string memory = try_shared_memory();
  const std::string futex = try_futex();
  const std::string robust =
      host::kernel_keeps_robust_list() ? std::string() : "get_robust_list: " + reason();
  const std::string handle = try_process_handle();
  section.findings.push_back(yes_or_no("memfd", memory));
  section.findings.push_back(yes_or_no("futex", futex));
  section.findings.push_back(yes_or_no("robust_futex", robust));
  section.findings.push_back(yes_or_no("pidfd_open", handle));
  section.findings.push_back(yes_or_no("membarrier", try_membarrier()));
  if (!memory.empty()) section.missing = "shared memory cannot be had: " + memory;
  if (!futex.empty()) section.missing = "a rank cannot sleep: " + futex;
  if (!robust.empty()) section.missing = "ranks cannot see each other end: " + robust;
  if (!handle.empty())
    section.missing = "pidfd_open: " + handle + " (a launcher waits for its children instead)";
  return section;
}

}  // namespace muster::cli
