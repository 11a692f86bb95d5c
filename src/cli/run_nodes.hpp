// `muster run --rendezvous HOST:PORT --node K --nodes N`: one launcher on each host of a job.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launch/launch.hpp"

namespace muster::cli {

struct Nodes {
  std::string rendezvous;
  std::optional<std::string> node;
  std::optional<std::string> nodes;
  std::optional<std::string> token_file;
  std::string wait = "60";  // seconds for the other nodes to come
};

// A rank of the job, which its process will be.
struct NodeRank {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t local_ranks = 0;
  int link = -1;  // its end of the launcher's link to the other hosts
};

// Meets the other nodes and launches the ranks of this one by `options`; become(rank) is run in
// each child. Returns the job's exit status, the same on all nodes. Throws UsageError.
int run_on_nodes(const Nodes& nodes, launcher::LaunchOptions options,
                 const std::function<int(const NodeRank&)>& become);

}  // namespace muster::cli
