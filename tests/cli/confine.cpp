// Runs a program as a container or a limit would confine it:
//
//   muster_confine [--refuse CALL=ERRNO]... [--user UID] [--processes COUNT] PROGRAM ARGUMENTS...
//
// CALL is pidfd_open, thread (pthread_create) or process (fork); ERRNO is EPERM, ENOSYS or EAGAIN.
// --user and --processes (ulimit -u, which root is above) need root.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Program = std::vector<sock_filter>;

sock_filter statement(unsigned code, std::uint32_t value) {
  return sock_filter{static_cast<std::uint16_t>(code), 0, 0, value};
}
// Goes on with the next instruction where it holds, else passes over `over` of them.
sock_filter unless(unsigned test, std::uint32_t value, std::uint8_t over) {
  return sock_filter{static_cast<std::uint16_t>(BPF_JMP | BPF_K | test), 0, over, value};
}
sock_filter fails_with(int code) {
  return statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
}

constexpr std::uint32_t number_at = offsetof(seccomp_data, nr);
constexpr std::uint32_t first_argument_at = offsetof(seccomp_data, args);

void refuse(Program& program, const std::string& call, int code) {
  program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, number_at));
  if (call == "pidfd_open") {
    program.push_back(unless(BPF_JEQ, SYS_pidfd_open, 1));
    program.push_back(fails_with(code));
    return;
  }
  // clone3 has its flags where no filter sees them; the C library falls back to clone.
  program.push_back(unless(BPF_JEQ, SYS_clone3, 1));
  program.push_back(fails_with(ENOSYS));
  const bool thread = call == "thread";
  program.push_back(unless(BPF_JEQ, SYS_clone, thread ? 3 : 4));
  program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, first_argument_at));
  if (thread) {
    program.push_back(unless(BPF_JSET, CLONE_THREAD, 1));
  } else {
    program.push_back(unless(BPF_JSET, CLONE_THREAD, 1));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(fails_with(code));
}

int code_of(const std::string& name) {
  if (name == "EPERM") return EPERM;
  if (name == "ENOSYS") return ENOSYS;
  return EAGAIN;
}

bool install(Program program) {
  if (program.empty()) return true;
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Program program;
  uid_t user = 0;
  rlim_t processes = RLIM_INFINITY;
  int at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    const std::string option = argv[at];
    const std::string value = argv[at + 1];
    if (option == "--user") user = static_cast<uid_t>(std::stoul(value));
    if (option == "--processes") processes = std::stoul(value);
    const std::size_t equals = value.find('=');
    if (option == "--refuse")
      refuse(program, value.substr(0, equals), code_of(value.substr(equals + 1)));
  }
  // Opened as the user who starts it: the other one need not reach the folder that it lies in.
  const int file = open(argv[at], O_PATH | O_CLOEXEC);
  const rlimit limit{processes, processes};
  const bool limited = processes == RLIM_INFINITY || setrlimit(RLIMIT_NPROC, &limit) == 0;
  if (!limited || (user != 0 && setuid(user) != 0) || !install(program)) {
    std::perror("muster_confine");
    return 125;
  }
  fexecve(file, argv + at, environ);
  std::perror(argv[at]);
  return 126;
}
