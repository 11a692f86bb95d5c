// A host, as a test has it: network, IPC, UTS and mount namespaces of its own, held by this process
// until it is killed. Writes "ready" when they are there; a line that says why, and ends with 77,
// where the kernel does not allow it.
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

int refuse(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  return 77;
}

bool bring_loopback_up() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  const bool up = ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  close(socket);
  return up;
}

}  // namespace

// host_holder NAME [shared...]: without the namespaces that `shared` names (net, ipc, uts).
int main(int count, char** words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int flags = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
  for (int i = 2; i < count; ++i) {
    const std::string_view shared(words[i]);
    if (shared == "net") flags &= ~CLONE_NEWNET;
    if (shared == "ipc") flags &= ~CLONE_NEWIPC;
    if (shared == "uts") flags &= ~CLONE_NEWUTS;
  }
  if (unshare(flags) != 0) return refuse("unshare");
  if ((flags & CLONE_NEWUTS) != 0 && sethostname(words[1], std::strlen(words[1])) != 0)
    return refuse("sethostname");
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return refuse("mount");
  if ((flags & CLONE_NEWNET) != 0) {
    // What /sys shows is the network namespace of who mounts it; libraries look there for devices.
    if (mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0) return refuse("mount /sys");
    if (!bring_loopback_up()) return refuse("cannot bring lo up");
  }
  if ((flags & CLONE_NEWIPC) != 0 && mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") != 0)
    return refuse("mount /dev/shm");
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) pause();
}
