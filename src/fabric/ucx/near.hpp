// Which ranks of a job are processes of this host, and whether they live.
//
// One host is where a descriptor can be handed over: each rank has a socket of the network
// namespace (an abstract one), and whoever reaches it sends a descriptor of its own process, which
// tells that process's end in any pid namespace.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "muster/result.hpp"

namespace muster::ucx {

class Near {
 public:
  // What the others need to reach this rank, a secret among it; empty where this system has no
  // descriptors of processes: then nobody is near.
  [[nodiscard]] std::string open(std::uint32_t rank);

  // Exchanges descriptors with all that are reached; `cards` by rank, what open() returned there.
  // An error names the rank that did not answer.
  [[nodiscard]] std::optional<Error> meet(const std::vector<std::string>& cards,
                                          std::chrono::nanoseconds within);

  [[nodiscard]] bool is_near(std::uint32_t rank) const {
    return rank < processes_.size() && processes_[rank].is_open();
  }
  // Also where it has ended since.
  [[nodiscard]] bool was_near(std::uint32_t rank) const {
    return rank < reached_.size() && reached_[rank];
  }
  [[nodiscard]] std::uint32_t count() const;  // without the own rank
  // Those that have ended since the last call.
  [[nodiscard]] std::vector<std::uint32_t> ended();

 private:
  // True where nothing of it is left to be done.
  [[nodiscard]] bool tell(std::uint32_t peer, const std::string& card);
  void hear();

  std::uint32_t rank_ = 0;
  std::string card_;
  Fd socket_;
  Fd self_;
  std::vector<bool> reached_;
  std::vector<Fd> processes_;  // by rank
};

}  // namespace muster::ucx
