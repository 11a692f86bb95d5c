// The wires between hosts, for tests of what happens when these fail: a TUN device on each host,
// and this program between them, which passes each packet on to the host that it is for.
//
//   relay PIPE PID...     host h is in the namespaces of the h-th process, with 10.77.0.h+1
//
// Lines from the pipe, each answered by "done" on stdout; A and B are hosts, both directions:
//
//   cut A B             nothing passes any more
//   heal A B            all is as at the beginning
//   delay A B MS        what passes arrives so many milliseconds later
//   loss A B PERCENT    so many of a hundred packets are lost
//   reorder A B PERCENT so many of a hundred arrive 3 ms later than those behind them
//   vanish A            nothing passes to or from the host any more
//
// What is lost, and which are reordered, is drawn from a fixed seed.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <queue>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t network = 0x0a4d'0000;  // 10.77.0.0
constexpr int longest_packet = 65'536;
constexpr milliseconds behind_the_next{3};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(77);
}

void set_up(const char* device, std::uint32_t address) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, device);
  const auto set = [&](unsigned long what, std::uint32_t value) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(value);
    std::memcpy(&request.ifr_addr, &in, sizeof in);
    if (ioctl(socket, what, &request) != 0) fail("cannot give the device its address");
  };
  set(SIOCSIFADDR, address);
  set(SIOCSIFNETMASK, 0xffff'ff00);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(socket, SIOCSIFFLAGS, &request) != 0) fail("cannot bring the device up");
  close(socket);
}

// The device belongs to the network namespace in which it is made; its descriptor works anywhere.
int tun_of(const std::string& pid, std::uint32_t host) {
  const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  const int its = open(("/proc/" + pid + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  if (own < 0 || its < 0 || setns(its, CLONE_NEWNET) != 0) fail("setns");
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (tun < 0) fail("/dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "tun0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tun, TUNSETIFF, &request) != 0) fail("TUNSETIFF");
  set_up("tun0", network + host + 1);
  if (setns(own, CLONE_NEWNET) != 0) fail("setns");
  close(own);
  close(its);
  return tun;
}

struct Link {
  bool cut = false;
  milliseconds delay{0};
  unsigned loss = 0;     // of a hundred
  unsigned reorder = 0;  // of a hundred
};

struct Packet {
  Clock::time_point due;
  std::uint64_t number;  // those that are due at one time keep their order
  std::uint32_t to;
  std::string bytes;
  bool operator<(const Packet& other) const {  // the top of the queue is the next that is due
    return std::pair(other.due, other.number) < std::pair(due, number);
  }
};

class Relay {
 public:
  explicit Relay(std::vector<int> tuns) : tuns_(std::move(tuns)) {}

  void run(int commands) {
    std::vector<pollfd> polled{{commands, POLLIN, 0}};
    for (const int tun : tuns_) polled.push_back({tun, POLLIN, 0});
    for (;;) {
      int wait = -1;
      if (!queue_.empty()) {
        const auto left = std::chrono::ceil<milliseconds>(queue_.top().due - Clock::now()).count();
        wait = static_cast<int>(std::max<std::int64_t>(left, 0));
      }
      poll(polled.data(), polled.size(), wait);
      if (polled[0].revents != 0) hear(commands);
      for (std::uint32_t host = 0; host < tuns_.size(); ++host) {
        if (polled[host + 1].revents != 0) take_from(host);
      }
      deliver();
    }
  }

 private:
  Link& between(std::uint32_t one, std::uint32_t other) { return links_[std::minmax(one, other)]; }

  void hear(int commands) {
    std::array<char, 4096> buffer;
    const ssize_t bytes = read(commands, buffer.data(), buffer.size());
    if (bytes > 0) text_.append(buffer.data(), static_cast<std::size_t>(bytes));
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
      obey(text_.substr(0, end));
      text_.erase(0, end + 1);
    }
  }

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    std::uint32_t one = 0;
    std::uint32_t other = 0;
    unsigned number = 0;
    words >> what >> one >> other >> number;
    const auto hosts = static_cast<std::uint32_t>(tuns_.size());
    for (std::uint32_t host = 0; what == "vanish" && host < hosts; ++host)
      between(one, host).cut = true;
    if (what != "vanish") {
      Link& link = between(one, other);
      if (what == "heal") link = {};
      if (what == "cut") link.cut = true;
      if (what == "delay") link.delay = milliseconds(number);
      if (what == "loss") link.loss = number;
      if (what == "reorder") link.reorder = number;
    }
    std::printf("done\n");
    std::fflush(stdout);
  }

  void take_from(std::uint32_t host) {
    std::array<char, longest_packet> buffer;
    for (int i = 0; i < 64; ++i) {
      const ssize_t bytes = read(tuns_[host], buffer.data(), buffer.size());
      if (bytes < 20) return;
      if ((static_cast<unsigned char>(buffer[0]) >> 4U) != 4) continue;  // no IPv6 here
      std::uint32_t to = 0;
      std::memcpy(&to, buffer.data() + 16, sizeof to);
      to = ntohl(to) - network - 1;
      if (to >= tuns_.size()) continue;
      pass_on(host, to, std::string(buffer.data(), static_cast<std::size_t>(bytes)));
    }
  }

  void pass_on(std::uint32_t from, std::uint32_t to, std::string bytes) {
    const Link& link = between(from, to);
    if (link.cut || random_() % 100 < link.loss) return;
    auto due = Clock::now() + link.delay;
    if (random_() % 100 < link.reorder) due += behind_the_next;
    queue_.push({due, packets_++, to, std::move(bytes)});
  }

  void deliver() {
    while (!queue_.empty() && queue_.top().due <= Clock::now()) {
      const Packet& packet = queue_.top();
      // A packet that the host has no room for is lost, as on any wire.
      if (write(tuns_[packet.to], packet.bytes.data(), packet.bytes.size()) < 0 && errno != EAGAIN)
        std::fprintf(stderr, "a packet is lost: %s\n", std::strerror(errno));
      queue_.pop();
    }
  }

  std::vector<int> tuns_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Link> links_;
  std::priority_queue<Packet> queue_;
  std::uint64_t packets_ = 0;
  std::mt19937 random_{16};
  std::string text_;
};

}  // namespace

int main(int count, char** words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<int> tuns;
  for (int i = 2; i < count; ++i)
    tuns.push_back(tun_of(words[i], static_cast<std::uint32_t>(i - 2)));
  // Open for writing, too, so that it does not end with each who writes.
  const int commands = open(words[1], O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (commands < 0) fail(words[1]);
  std::printf("ready\n");
  std::fflush(stdout);
  Relay(std::move(tuns)).run(commands);
}
