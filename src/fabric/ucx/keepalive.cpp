#include "fabric/ucx/keepalive.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace muster::ucx {
namespace {

// Seconds of silence, then so many questions a second apart.
constexpr int questions = 2;
int idle_of(std::chrono::seconds limit) {
  return static_cast<int>(std::max<std::int64_t>(1, limit.count() - questions));
}

int option_of(int socket, int level, int name) {
  int value = -1;
  socklen_t bytes = sizeof value;
  return getsockopt(socket, level, name, &value, &bytes) == 0 ? value : -1;
}

// By UCX_TLS: names of transports, or `^` and those that are left out.
bool may_use_tcp() {
  const char* const set = std::getenv("UCX_TLS");
  const std::string_view names = set == nullptr ? "all" : set;
  const bool named = names.find("tcp") != std::string_view::npos;
  if (names.starts_with('^')) return !named;
  return named || names.find("all") != std::string_view::npos;
}

bool has_our_keepalive(int socket, std::chrono::seconds limit) {
  return option_of(socket, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
         option_of(socket, SOL_SOCKET, SO_KEEPALIVE) == 1 &&
         option_of(socket, IPPROTO_TCP, TCP_KEEPIDLE) == idle_of(limit) &&
         option_of(socket, IPPROTO_TCP, TCP_KEEPINTVL) == 1 &&
         option_of(socket, IPPROTO_TCP, TCP_KEEPCNT) == questions;
}

}  // namespace

void keep_alive(ucp_config_t* config, std::chrono::seconds limit) {
  // Each round UCX sees to it that the connections made since have the keepalive.
  ucp_config_modify(config, "KEEPALIVE_INTERVAL", "1s");
  ucp_config_modify(config, "KEEPALIVE_NUM_EPS", "inf");
  // These are of the transport and go by their names there. UCX warns of those that none takes.
  if (!may_use_tcp()) return;
  ucp_config_modify(config, "KEEPIDLE", fmt::format("{}s", idle_of(limit)).c_str());
  ucp_config_modify(config, "KEEPINTVL", "1s");
  ucp_config_modify(config, "KEEPCNT", fmt::format("{}", questions).c_str());
}

void limit_silence(std::chrono::seconds limit) {
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point next{};
  if (Clock::now() < next) return;
  next = Clock::now() + std::chrono::seconds(1);
  DIR* const open = opendir("/proc/self/fd");
  if (open == nullptr) return;
  const auto milliseconds = static_cast<unsigned>(limit.count() * 1000);
  while (const dirent* entry = readdir(open)) {
    const int socket = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || !has_our_keepalive(socket, limit)) continue;
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  }
  closedir(open);
}

}  // namespace muster::ucx
