#include "net/star_bootstrap.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/descriptor_limit.hpp"
#include "net/door.hpp"
#include "net/wire.hpp"

namespace muster::detail::net {
namespace {

using namespace std::chrono_literals;

// Another may listen at the place for a moment: a job that has just ended.
constexpr auto for_the_place = 1s;

class StarBootstrap final : public Bootstrap {
 public:
  StarBootstrap(std::unique_ptr<Star> star, std::uint32_t rank,
                std::unique_ptr<DescriptorLimit> room)
      : room_(std::move(room)), star_(std::move(star)), rank_(rank) {
    star_->on_result = [this](const std::string& result) { result_ = result; };
    star_->on_failure = [this](const Error& error) { failure_ = error; };
  }

  [[nodiscard]] Rank rank() const override { return Rank{rank_}; }
  [[nodiscard]] std::uint32_t size() const override { return star_->ranks(); }

  [[nodiscard]] Result<std::vector<std::string>> all_gather(
      std::string_view own, std::chrono::nanoseconds within) override {
    if (const auto fits = check_entry(own); !fits) return fits.error();
    result_.reset();
    star_->contribute(rank_, own, within);
    // The star has a deadline for each round, and says who is missing then.
    run_until(
        *star_, [this] { return result_ || failure_; }, Clock::time_point::max());
    // Nobody handles the star between two calls: what the others wait for is written now.
    run_until(
        *star_, [this] { return !star_->has_more_to_send(); }, Clock::now() + within);
    // Who has its result may end while others still take theirs: that fails the next round alone.
    if (result_) return unpack_result(*result_, size());
    return at_this_rank(*failure_);
  }

 private:
  [[nodiscard]] Error at_this_rank(Error error) const {
    error.rank = rank();
    return error;
  }

  std::unique_ptr<DescriptorLimit> room_;  // for the connections of rank 0
  std::unique_ptr<Star> star_;
  std::uint32_t rank_;
  std::optional<std::string> result_;
  std::optional<Error> failure_;
};

Result<std::unique_ptr<Bootstrap>> meet(const std::function<Result<Fd>()>& listen,
                                        const std::function<Result<std::vector<Place>>()>& find,
                                        StarOptions options) {
  if (options.self.host.empty()) options.self.host = own_host_name();
  const std::uint32_t rank = options.self.index;
  const auto with_rank = [&](Error error) {
    if (!error.rank) error.rank = Rank{rank};
    return error;
  };
  if (rank != 0) {
    const auto places = find();
    if (!places) return with_rank(places.error());
    auto star = Star::join(*places, std::move(options));
    if (!star) return with_rank(star.error());
    return std::unique_ptr<Bootstrap>(
        std::make_unique<StarBootstrap>(std::move(*star), rank, nullptr));
  }
  auto room = std::make_unique<DescriptorLimit>(options.self.members + most_guests);
  auto listener = listen();
  if (!listener) return with_rank(listener.error());
  auto star = Star::host(std::move(*listener), std::move(options));
  if (!star) return with_rank(star.error());
  return std::unique_ptr<Bootstrap>(
      std::make_unique<StarBootstrap>(std::move(*star), rank, std::move(room)));
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> meet_at(const HostPort& at, StarOptions options) {
  if (options.where.empty()) options.where = to_string(at);
  return meet([&] { return listen_at(at, for_the_place); }, [&] { return resolve(at); },
              std::move(options));
}

Result<std::unique_ptr<Bootstrap>> meet_on_host(const std::string& key, StarOptions options) {
  const Place place = place_on_host(key);
  options.token = fmt::format("on one host: {}", key);
  options.where = "the socket of this host";
  return meet([&] { return listen_at(place, for_the_place); },
              [&] { return Result<std::vector<Place>>(std::vector{place}); }, std::move(options));
}

}  // namespace muster::detail::net
