// A rank that finds the others, whoever started it, and exchanges bytes with them.
//
//   gatherer [rounds N] [bytes N] [within MS] [join MS] [absent RANK] [late RANK ROUND]
//            [dies RANK ROUND] [exits RANK CODE] [stays MS] [hosts]
//
// Prints "rank R of P on HOST: N rounds, DIGEST", the same digest on all ranks, or the error.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "base/digest.hpp"
#include "net/find.hpp"
#include "net/hosts.hpp"
#include "net/place.hpp"

namespace {

namespace net = muster::detail::net;
using std::chrono::milliseconds;

struct Options {
  std::uint32_t rounds = 3;
  std::size_t bytes = 1000;
  milliseconds within{20'000};
  milliseconds join{30'000};
  int absent = -1;
  int late = -1;
  int dies = -1;
  std::uint32_t at_round = 0;
  int exits = -1;
  int code = 0;
  milliseconds stays{0};
  bool hosts = false;
};

Options options_of(int count, char** words) {
  Options options;
  const auto number = [&](int at) { return at < count ? std::atoi(words[at]) : 0; };
  for (int i = 1; i < count; ++i) {
    const std::string_view word(words[i]);
    if (word == "rounds") options.rounds = static_cast<std::uint32_t>(number(++i));
    if (word == "bytes") options.bytes = static_cast<std::size_t>(number(++i));
    if (word == "within") options.within = milliseconds(number(++i));
    if (word == "join") options.join = milliseconds(number(++i));
    if (word == "absent") options.absent = number(++i);
    if (word == "stays") options.stays = milliseconds(number(++i));
    if (word == "hosts") options.hosts = true;
    if (word == "exits") {
      options.exits = number(++i);
      options.code = number(++i);
    }
    if (word != "late" && word != "dies") continue;
    (word == "late" ? options.late : options.dies) = number(++i);
    options.at_round = static_cast<std::uint32_t>(number(++i));
  }
  return options;
}

int fail(std::uint32_t rank, const muster::Error& error) {
  fmt::print(stderr, "rank {}: {}\n", rank, to_string(error));
  return 1;
}

// Each rank's bytes tell rank, round and place.
std::string bytes_of(std::uint32_t rank, std::uint32_t round, std::size_t count) {
  std::string bytes(count + rank % 7, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(static_cast<unsigned char>(rank * 31 + round * 7 + i));
  return bytes;
}

int exchange(net::Bootstrap& ranks, const Options& options) {
  const std::uint32_t rank = ranks.rank().value;
  const auto is = [&](int which) { return which == static_cast<int>(rank); };
  std::uint64_t digest = muster::digest_of_nothing;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    if (round == options.at_round && is(options.dies)) kill(getpid(), SIGKILL);
    if (round == options.at_round && is(options.late))
      std::this_thread::sleep_for(milliseconds(60'000));
    const auto all = ranks.all_gather(bytes_of(rank, round, options.bytes), options.within);
    if (!all) return fail(rank, all.error());
    for (std::uint32_t other = 0; other < ranks.size(); ++other) {
      if ((*all)[other] != bytes_of(other, round, options.bytes)) {
        fmt::print(stderr, "rank {}: what rank {} brought to round {} is wrong\n", rank, other,
                   round);
        return 1;
      }
      digest = muster::digest_of((*all)[other], digest);
    }
    if (options.stays.count() > 0) {
      fmt::print("rank {} has round {}\n", rank, round);
      std::fflush(stdout);
      std::this_thread::sleep_for(options.stays);
    }
  }
  fmt::print("rank {} of {} on {}: {} rounds, {:016x}\n", rank, ranks.size(), net::own_host_name(),
             options.rounds, digest);
  return is(options.exits) ? options.code : 0;
}

int show_hosts(net::Bootstrap& ranks, const Options& options) {
  const auto hosts = net::hosts_of(ranks, options.within);
  if (!hosts) return fail(ranks.rank().value, hosts.error());
  std::string line;
  for (const std::uint32_t host : *hosts) line += fmt::format(" {}", host);
  fmt::print("rank {}: hosts{}\n", ranks.rank().value, line);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const Options options = options_of(count, words);
  for (const char* name : {"MUSTER_RANK", "RANK", "OMPI_COMM_WORLD_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr && std::atoi(rank) == options.absent)
      std::this_thread::sleep_for(milliseconds(60'000));
  }
  auto found = net::find_each_other(options.join);
  if (!found) return fail(0, found.error());
  if (!*found) {
    fmt::print(stderr, "nobody has started this program as a rank\n");
    return 1;
  }
  net::Bootstrap& ranks = *(*found)->bootstrap;
  return options.hosts ? show_hosts(ranks, options) : exchange(ranks, options);
}
