// Jobs on the hosts of a World.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "multihost/world.hpp"

namespace muster::testing {

inline const std::string job_token = "a token that nobody can guess: 41ac";
inline constexpr int job_port = 29'500;

#define NEEDS_WORLD(wire) \
  if (!World::why_not(wire).empty()) GTEST_SKIP() << "SKIPPED: no hosts: " << World::why_not(wire)

using Commands = std::vector<std::unique_ptr<Command>>;

struct JobOptions {
  std::uint32_t ranks_per_host = 1;
  Words run{};                                       // options of `muster run`
  std::map<std::string, std::string> environment{};  // on top of the token
};

inline std::unique_ptr<Command> start_node(const World& world, std::uint32_t host,
                                           std::uint32_t hosts, const Words& program,
                                           const JobOptions& options = {}) {
  const Words run{MUSTER_PROGRAM, "run",
                  "--rendezvous", World::address(0) + ":" + std::to_string(job_port),
                  "--node",       std::to_string(host),
                  "--nodes",      std::to_string(hosts),
                  "-n",           std::to_string(options.ranks_per_host)};
  CommandOptions command;
  command.environment = options.environment;
  command.environment.emplace("MUSTER_TOKEN", job_token);
  return std::make_unique<Command>(world.on(host, run + options.run + program), command);
}

// `muster run --rendezvous` on each host. Node 0 comes last: the others have to wait for it.
inline Commands start_nodes(const World& world, const Words& program,
                            const JobOptions& options = {}) {
  Commands nodes(world.hosts());
  for (std::uint32_t host = world.hosts(); host-- > 0;)
    nodes[host] = start_node(world, host, world.hosts(), program, options);
  return nodes;
}

inline std::string all_out(const Commands& commands) {
  std::string text;
  for (const auto& command : commands) text += command->out();
  return text;
}

inline std::string all_err(const Commands& commands) {
  std::string text;
  for (const auto& command : commands) text += command->err();
  return text;
}

// Each rank has said that it found all others, with one digest, on the host where it is.
inline void expect_gathered(const std::string& out, std::uint32_t hosts, std::uint32_t per_host) {
  std::set<std::string> digests;
  for (std::uint32_t rank = 0; rank < hosts * per_host; ++rank) {
    const std::string line = "rank " + std::to_string(rank) + " of " +
                             std::to_string(hosts * per_host) + " on " +
                             World::name(rank / per_host) + ": 3 rounds, ";
    const std::size_t at = out.find(line);
    ASSERT_NE(at, std::string::npos) << line << "\n" << out;
    digests.insert(out.substr(at + line.size(), 16));
  }
  EXPECT_EQ(digests.size(), 1U) << out;
}

}  // namespace muster::testing
