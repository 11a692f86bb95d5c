#include "cli/run_nodes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/descriptor_limit.hpp"
#include "cli/numbers.hpp"
#include "net/door.hpp"
#include "net/node_link.hpp"
#include "net/star.hpp"
#include "net/token.hpp"

namespace muster::cli {
namespace {

namespace net = detail::net;

constexpr std::uint32_t most_nodes = 65'536;
// Another job may listen at the port for a moment: one that has just ended.
constexpr std::chrono::seconds for_the_port{1};

int complain(const Error& error) {
  fmt::print(stderr, "muster run: {}\n", to_string(error));
  return 1;
}

template <class T>
T or_usage(Result<T> result) {
  if (!result) throw UsageError(result.error().what);
  return std::move(*result);
}

net::StarOptions options_of(const Nodes& nodes, const net::HostPort& at, std::uint32_t ranks) {
  if (!nodes.node || !nodes.nodes)
    throw UsageError("--rendezvous needs --node and --nodes: which host this is, and of how many");
  net::StarOptions options;
  const std::uint32_t members = whole_number("--nodes", *nodes.nodes, 1, most_nodes);
  options.self = {whole_number("--node", *nodes.node, 0, members - 1), members, ranks,
                  net::own_host_name()};
  options.join_within = seconds("--wait", nodes.wait, false);
  options.keepalive = or_usage(net::keepalive_by_environment());
  options.token = or_usage(nodes.token_file ? net::token_in_file(*nodes.token_file)
                                            : net::token_by_environment());
  options.where = to_string(at);
  options.noun = "node";
  return options;
}

Result<std::unique_ptr<net::Star>> meet(const net::HostPort& at, net::StarOptions options) {
  if (options.self.index != 0) {
    const auto places = net::resolve(at);
    if (!places) return places.error();
    return net::Star::join(*places, std::move(options));
  }
  auto listener = net::listen_at(at, for_the_port);
  if (!listener) return listener.error();
  return net::Star::host(std::move(*listener), std::move(options));
}

}  // namespace

int run_on_nodes(const Nodes& nodes, launcher::LaunchOptions options,
                 const std::function<int(const NodeRank&)>& become) {
  const auto at = or_usage(net::parse_host_port(nodes.rendezvous));
  net::StarOptions star_options = options_of(nodes, at, options.ranks);
  const std::uint64_t connections = star_options.self.index == 0 ? star_options.self.members : 1;
  DescriptorLimit descriptors(connections + net::most_guests + 2ULL * options.ranks);
  auto star = meet(at, std::move(star_options));
  if (!star) return complain(star.error());

  NodeRank first{(*star)->first(), (*star)->ranks(), 0, options.ranks, -1};
  net::NodeLink link(std::move(*star), options.ranks);
  if (!link.is_open()) {
    return complain({ErrorCode::system, fmt::format("cannot make the ranks' links to the other "
                                                    "hosts: {}",
                                                    std::strerror(errno))});
  }
  options.first_rank = first.rank;
  options.elsewhere = link.elsewhere();
  options.on_started = [&link] { link.start(); };
  return launcher::launch(options, [&](std::uint32_t local) {
    descriptors.restore();
    unsetenv("MUSTER_TOKEN");  // the ranks have the launcher's link, and need it not
    unsetenv("MUSTER_TOKEN_FILE");
    NodeRank rank = first;
    rank.rank += local;
    rank.local_rank = local;
    rank.link = link.end_of_rank(local);
    return become(rank);
  });
}

}  // namespace muster::cli
