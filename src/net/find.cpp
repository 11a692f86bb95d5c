#include "net/find.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "launch/hold.hpp"
#include "net/pmix_bootstrap.hpp"
#include "net/rank_bootstrap.hpp"
#include "net/star_bootstrap.hpp"
#include "net/token.hpp"

namespace muster::detail::net {
namespace {

using launcher::LaunchedBy;
using launcher::Launcher;
using Met = Result<std::unique_ptr<Bootstrap>>;

// What tells the job from any other on this host.
std::string key_of(const LaunchedBy& self) {
  struct stat status {};
  if (self.job_fd && fstat(*self.job_fd, &status) == 0)
    return fmt::format("muster/{}/{}", status.st_dev, status.st_ino);
  return self.job_key;
}

Error no_way(const LaunchedBy& self) {
  return Error{ErrorCode::unavailable,
               fmt::format("{} started this job on several hosts, and its ranks have nothing by "
                           "which to find each other: start it with PMIx (mpirun of Open MPI, srun "
                           "--mpi=pmix), or set MASTER_ADDR to an address of rank 0's host, "
                           "MASTER_PORT to a port that is free there, and MUSTER_TOKEN to a secret",
                           name_of(self.launcher))};
}

// Where rank 0 listens. Under torchrun its own store may have MASTER_PORT.
Result<HostPort> meeting_place(const LaunchedBy& self) {
  const char* host = std::getenv("MASTER_ADDR");
  const char* own = std::getenv("MUSTER_PORT");
  const char* port = own != nullptr ? own : std::getenv("MASTER_PORT");
  if (host == nullptr || port == nullptr) return no_way(self);
  const std::string_view shown(host);
  const bool six = shown.find(':') != std::string_view::npos;
  auto at = parse_host_port(fmt::format("{}{}{}:{}", six ? "[" : "", shown, six ? "]" : "", port));
  if (!at) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("MASTER_ADDR and {}: {}",
                             own != nullptr ? "MUSTER_PORT" : "MASTER_PORT", at.error().what)};
  }
  const char* store = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  if (own == nullptr && store != nullptr && std::string_view(store) == "True") ++at->port;
  return at;
}

Met meet_at_master(const LaunchedBy& self, StarOptions options) {
  const auto at = meeting_place(self);
  if (!at) return at.error();
  auto token = token_by_environment();
  if (!token) return token.error();
  // A restarted job must not meet what is left of the one before: the key is no secret, but tells
  // the jobs apart.
  options.token = fmt::format("{}/{}", *token, self.job_key);
  const auto keepalive = keepalive_by_environment();
  if (!keepalive) return keepalive.error();
  options.keepalive = *keepalive;
  if (self.launcher == Launcher::torchrun && std::getenv("LOCAL_WORLD_SIZE") != nullptr) {
    const std::uint64_t local = std::strtoull(std::getenv("LOCAL_WORLD_SIZE"), nullptr, 10);
    options.about = [local](std::uint32_t rank) {
      return local == 0 ? "" : fmt::format(" of node {}", rank / local);
    };
  }
  return meet_at(*at, std::move(options));
}

Met meet(const LaunchedBy& self, std::chrono::nanoseconds within) {
  StarOptions options;
  options.self = {self.rank, self.ranks, 1, own_host_name()};
  options.join_within = within;
  // What the rank starts must not hold its link.
  if (self.net_fd) fcntl(*self.net_fd, F_SETFD, FD_CLOEXEC);
  if (self.net_fd) return meet_by_launcher(Fd(*self.net_fd), self.rank, self.ranks);
  const bool by_pmix = self.launcher == Launcher::open_mpi || self.launcher == Launcher::slurm ||
                       self.launcher == Launcher::pmix;
  if (by_pmix && has_pmix()) {
    auto met = meet_by_pmix();
    if (met || !self.one_host) return met;
  }
  if (self.one_host) return meet_on_host(key_of(self), std::move(options));
  return meet_at_master(self, std::move(options));
}

}  // namespace

Result<std::optional<Found>> find_each_other(std::chrono::nanoseconds within) {
  auto self = launcher::detect(launcher::Reach::any_host);
  if (!self) return self.error();
  if (!*self) return std::optional<Found>{};
  Found found{std::move(**self), nullptr};
  launcher::hold_on_to_launcher(found.self);
  launcher::hide_from_children();
  auto met = meet(found.self, within);
  if (!met) return met.error();
  found.bootstrap = std::move(*met);
  found.self.rank = found.bootstrap->rank().value;
  found.self.ranks = found.bootstrap->size();
  return std::optional(std::move(found));
}

}  // namespace muster::detail::net
