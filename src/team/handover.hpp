// How ranks give each other descriptors: over sockets, because a process number and a number in
// /proc/PID/fd can mean something else to the one who opens it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor_limit.hpp"
#include "base/fd.hpp"
#include "fabric/host/team_context.hpp"
#include "muster/result.hpp"

namespace muster::host {

// A socket of this rank's, where each of the others leaves one descriptor. Made before the ranks
// agree to begin, so that it is there when the first of them sends; gone when all have agreed that
// they are done.
class Handover {
 public:
  // Errors: system.
  [[nodiscard]] static Result<Handover> open();

  // What the others have to know to reach it.
  [[nodiscard]] std::uint64_t name() const { return name_; }

  // A descriptor that has come, and the word that its sender put beside it.
  using Take = std::function<std::optional<Error>(Rank from, Fd fd, std::uint64_t word)>;

  // Sends `fd` and `word` to all others, whose sockets `names` names by rank, and calls `take` once
  // for each of them. Where that says that something is wrong, or a peer cannot be reached, the
  // exchange goes on, for others wait for this rank's part, and the first error is returned.
  // Errors: those of `take`; unavailable where a peer lives in another network namespace; system
  // where no descriptor is left. The team's failure, and expired, which fails the team, end it.
  [[nodiscard]] Result<void> exchange(TeamContext& team, CallClock& call,
                                      const std::vector<std::uint64_t>& names, int fd,
                                      std::uint64_t word, const Take& take);

 private:
  enum class Sent : std::uint8_t { yes, not_yet, never };
  struct Parcel;

  [[nodiscard]] Sent send(const TeamContext& team, std::uint64_t name, const Parcel& parcel,
                          int fd);
  [[nodiscard]] std::optional<std::uint32_t> receive(const TeamContext& team, const Take& take);
  void remember(Error error);

  // The user's code may have used up what it may open.
  std::unique_ptr<DescriptorLimit> room_ =
      std::make_unique<DescriptorLimit>(DescriptorLimit::current());
  Fd socket_;
  std::uint64_t name_ = 0;
  std::optional<Error> error_;  // the first
};

}  // namespace muster::host
