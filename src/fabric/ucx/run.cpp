#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fabric/ucx/team_bootstrap.hpp"
#include "fabric/ucx/team_core.hpp"
#include "launch/environment.hpp"
#include "muster/run/ucx.hpp"
#include "team/run_timeout.hpp"
#if defined(MUSTER_HAVE_NET)
#include "net/find.hpp"
#include "net/place.hpp"
#endif

namespace muster::ucx {
namespace {

using Body = std::function<Result<int>(Team&)>;

void report(const std::string& who, const Error& error) {
  fmt::print(stderr, "muster: {}: {}\n", who, to_string(error));
  std::fflush(stderr);
}

// What the body made of it, with whatever it threw.
Result<int> call(const Body& body, Team& team) {
  try {
    return body(team);
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::aborted, fmt::format("the body threw: {}", thrown.what())};
  } catch (...) {
    return Error{ErrorCode::aborted, "the body threw something that is no std::exception"};
  }
}

// One rank from joining to leaving.
Result<int> run_rank(muster::detail::net::Bootstrap& bootstrap, const Settings& settings,
                     const Body& body) {
  Result<Team> team = join(bootstrap, settings);
  if (!team) return team.error();
  Result<int> result = call(body, *team);
  if (result && *result == 0) {
    if (const auto left = team->close(); !left) return left.error();
    return result;
  }
  // The others must not wait for it.
  team->abort(result ? fmt::format("its body ended with code {}", *result)
                     : to_string(result.error()));
  return result;
}

#if defined(MUSTER_HAVE_NET)
int run_on_hosts(Settings settings, const Body& body) {
  const auto keepalive = muster::detail::net::keepalive_by_environment();
  if (!keepalive) return report("run", keepalive.error()), 2;
  settings.keepalive = std::max(*keepalive, std::chrono::seconds(3));
  auto found = muster::detail::net::find_each_other();
  if (!found) return report("run", found.error()), 1;
  muster::detail::net::Bootstrap& bootstrap = *(**found).bootstrap;
  const Result<int> result = run_rank(bootstrap, settings, body);
  if (result) return *result;
  report(fmt::format("rank {}", bootstrap.rank().value), result.error());
  return 1;
}
#endif

}  // namespace

std::optional<detail::Carrier> detail::carrier() {
  const char* const set = std::getenv("MUSTER_FABRIC");
  const std::string_view wanted = set == nullptr ? "auto" : set;
  if (wanted == "host") return Carrier::host;
  if (wanted == "ucx") return Carrier::network;
  if (wanted == "auto" || wanted.empty()) {
    const auto started = launcher::detect(launcher::Reach::any_host);
    if (!started) return report("run", started.error()), std::nullopt;
    return !*started || (**started).one_host ? Carrier::host : Carrier::network;
  }
  report("run", {ErrorCode::invalid_argument,
                 fmt::format("MUSTER_FABRIC is \"{}\"; it must be host, ucx or auto", wanted)});
  return std::nullopt;
}

int detail::run_ranks(const RunOptions& options, const Body& body) {
  const auto timeout = timeout_of(options);
  if (!timeout) return report("run", timeout.error()), 2;
  if (options.as == threads) {
    report("run", {ErrorCode::invalid_argument,
                   "the option `as` is threads; over the network ranks are processes"});
    return 2;
  }
  Settings settings;
  settings.max_lanes = options.lanes;
  settings.timeout = *timeout;
  settings.on_expiry = options.on_expiry;
  const auto started = launcher::detect(launcher::Reach::any_host);
  if (!started) return report("run", started.error()), 2;
  if (*started && !(**started).one_host) {
#if defined(MUSTER_HAVE_NET)
    return run_on_hosts(settings, body);
#else
    report("run", {ErrorCode::unavailable,
                   "this muster was built without OpenSSL, which ranks on several hosts find each "
                   "other by"});
    return 2;
#endif
  }
  // On one host they are started and found as ever, and what they are told of each other passes
  // through their shared memory.
  return muster::run(options, [&](muster::Team& team) -> Result<void> {
    TeamBootstrap bootstrap(team);
    const Result<int> result = run_rank(bootstrap, settings, body);
    if (!result) return result.error();
    if (*result != 0)
      return Error{ErrorCode::aborted, fmt::format("the body ended with code {}", *result)};
    return {};
  });
}

}  // namespace muster::ucx
