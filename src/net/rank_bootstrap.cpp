#include "net/rank_bootstrap.hpp"

#include <poll.h>

#include <optional>
#include <utility>

#include "net/channel.hpp"
#include "net/place.hpp"
#include "net/wire.hpp"

namespace muster::detail::net {
namespace {

class RankBootstrap final : public Bootstrap {
 public:
  RankBootstrap(Fd link, std::uint32_t rank, std::uint32_t ranks)
      : link_(std::move(link), std::nullopt, longest_from_hub), rank_(rank), ranks_(ranks) {}

  [[nodiscard]] Rank rank() const override { return Rank{rank_}; }
  [[nodiscard]] std::uint32_t size() const override { return ranks_; }

  [[nodiscard]] Result<std::vector<std::string>> all_gather(
      std::string_view own, std::chrono::nanoseconds within) override {
    if (const auto fits = check_entry(own); !fits) return fits.error();
    if (failed_) return *failed_;
    link_.send(kind::entry, pack_entry(rank_, within, own));
    // Behind the launcher, which waits for the hub.
    const auto until = Clock::now() + within + 2 * for_the_hub_to_say_why;
    std::optional<Frame> frame;
    while (!(frame = link_.receive()) && link_.is_open() && Clock::now() < until) {
      const bool sends = link_.has_more_to_send();
      pollfd ready{link_.fd(), static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0};
      poll(&ready, 1, milliseconds_until(until));
      link_.flush();
    }
    if (frame && frame->kind == kind::result) return unpack_result(frame->bytes, ranks_);
    failed_ = why(frame);
    failed_->rank = rank();
    return *failed_;
  }

 private:
  [[nodiscard]] Error why(const std::optional<Frame>& frame) const {
    if (frame && frame->kind == kind::failure) return unpack_error(frame->bytes);
    const std::string launcher = "the launcher on " + own_host_name();
    if (!link_.is_open()) return {ErrorCode::peer_lost, launcher + " " + link_.why()};
    return {ErrorCode::expired, launcher + " has not answered in time"};
  }

  Channel link_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::optional<Error> failed_;
};

}  // namespace

std::unique_ptr<Bootstrap> meet_by_launcher(Fd link, std::uint32_t rank, std::uint32_t ranks) {
  return std::make_unique<RankBootstrap>(std::move(link), rank, ranks);
}

}  // namespace muster::detail::net
