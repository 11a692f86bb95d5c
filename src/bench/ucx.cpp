#include "bench/ucx.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "bench/ranks.hpp"

namespace muster::bench {

namespace {

// A TCP port that nobody listens on just now; the two sides exchange addresses through it. 0 where
// there is none.
std::uint16_t free_port() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(socket_fd, any, size) == 0 && getsockname(socket_fd, any, &size) == 0;
  close(socket_fd);
  return bound ? ntohs(address.sin_port) : std::uint16_t{0};
}

// Over shared memory alone. Starts the server, then the client again and again until the server
// listens. The group is killed by whoever runs it, should one of the two hang.
constexpr const char* both_sides = R"(
  program=$1 port=$2 server_core=$3 client_core=$4; shift 4
  export UCX_TLS=posix,self UCX_WARN_UNUSED_ENV_VARS=n
  "$program" -p "$port" -c "$server_core" >/dev/null &
  server=$!
  while ! said=$("$program" localhost -p "$port" -c "$client_core" "$@" 2>&1); do
    kill -0 "$server" 2>/dev/null || { printf '%s\n' "$said" >&2; exit 1; }
    sleep 0.05
  done
  printf '%s\n' "$said"
  wait "$server")";

std::vector<std::string> command(const Plan& plan, const std::string& program,
                                 std::uint64_t bytes) {
  const auto core = [&](std::size_t rank) {
    return plan.cores.empty() ? std::to_string(rank)
                              : std::to_string(plan.cores[rank % plan.cores.size()]);
  };
  return {"sh",       "-c",
          both_sides, "sh",
          program,    std::to_string(free_port()),
          core(0),    core(1),
          "-t",       "ucp_put_lat",
          "-s",       std::to_string(bytes),
          "-n",       std::to_string(plan.calls * plan.repeat),
          "-w",       std::to_string(plan.warm_up),
          "-f",       "-v"};
}

}  // namespace

Result<Blocks> parse_perftest(const std::string& output) {
  std::istringstream lines(output);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    if (names.empty()) {
      if (line.find("overall_lat") != std::string::npos) names = fields;
      continue;
    }
    for (std::size_t i = 0; i < names.size() && i < fields.size(); ++i) {
      double us = 0;
      const char* const end = fields[i].data() + fields[i].size();
      if (names[i] == "overall_lat" && std::from_chars(fields[i].data(), end, us).ptr == end)
        return Blocks{us * 1000};
    }
  }
  return Error{ErrorCode::system, fmt::format("ucx_perftest printed no overall_lat: {}", output)};
}

Contender ucx_put(const Request& request) {
  const std::string program = on_path("ucx_perftest");
  Contender ucx{
      .name = "ucx_perftest ucp_put_lat",
      .group = "ucx",
      .role = Role::peer,
      .as = As::processes,
  };
  if (program.empty())
    ucx.why_not = "ucx_perftest is not on the PATH (Debian's package ucx-utils)";
  else if (request.ranks != 2)
    ucx.why_not = fmt::format("ucx_perftest measures 2 ranks, not {}", request.ranks);
  ucx.run = [program, bytes = request.bytes](const Plan& plan) -> Result<Blocks> {
    const Result<std::string> output = run_program(command(plan, program, bytes), plan.limit);
    if (!output) return output.error();
    return parse_perftest(*output);
  };
  return ucx;
}

}  // namespace muster::bench
