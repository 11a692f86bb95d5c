// One call of each collective, for `muster cost`: `bytes` are what each rank has, or, where it gets
// or gives a part for each rank, one such part.
#include <cstdint>
#include <vector>

#include "check/builtin/transfer_costs.hpp"
#include "muster/collective.hpp"

namespace muster::check {

namespace {

using model::Team;
using T = std::int32_t;
using Ints = WindowRef<T>;

struct Ends {
  Ints to;
  Ints from;
};

Ends ends_of(Team& team, std::int64_t to, std::int64_t from) {
  return {*team.window<T>({to}, "to"), *team.window<T>({from}, "from")};
}

std::int64_t count_of(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes / sizeof(T));
}

template <Algorithm algorithm, Cells cells = Cells::epochs>
void all_reduce_once(Team& team, std::uint64_t bytes) {
  const AllReduce<T, detail::collective_tile<T>, cells> sums(team, {.algorithm = algorithm});
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count, count);
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return sums.run(fabric, to, from, count); });
}

void reduce_scatter_once(Team& team, std::uint64_t bytes) {
  const ReduceScatter<T> sums(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count, count * team.size());
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return sums.run(fabric, to, from, count); });
}

void all_gather_once(Team& team, std::uint64_t bytes) {
  const AllGather<T> gather(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count * team.size(), count);
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return gather.run(fabric, to, from, count); });
}

void all_to_all_once(Team& team, std::uint64_t bytes) {
  const AllToAll<T> exchange(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count * team.size(), count * team.size());
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return exchange.run(fabric, to, from, count); });
}

template <Cells cells = Cells::epochs>
void broadcast_once(Team& team, std::uint64_t bytes) {
  const Broadcast<T, detail::collective_tile<T>, cells> broadcast(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count, count);
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return broadcast.run(fabric, to, from, count, Rank{0}); });
}

void reduce_once(Team& team, std::uint64_t bytes) {
  const Reduce<T> sums(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count, count);
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return sums.run(fabric, to, from, count, Rank{0}); });
}

void gather_once(Team& team, std::uint64_t bytes) {
  const Gather<T> rows(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count * team.size(), count);
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return rows.run(fabric, to, from, count, Rank{0}); });
}

void scatter_once(Team& team, std::uint64_t bytes) {
  const Scatter<T> parts(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count, count * team.size());
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return parts.run(fabric, to, from, count, Rank{0}); });
}

// To the right and from the left: what one call of each costs.
void send_receive_once(Team& team, std::uint64_t bytes) {
  const SendReceive<T> pairs(team);
  const std::int64_t count = count_of(bytes);
  const auto [to, from] = ends_of(team, count, count);
  (void)team.lanes(team.max_lanes(), [&](auto& fabric) {
    if (fabric.size() == 1) return WaitStatus::ok;
    const bool sends_first = fabric.rank().value % 2 == 0;
    WaitStatus status = WaitStatus::ok;
    if (sends_first) status = pairs.send(fabric, right_of(fabric), from, count);
    status = worst(status, pairs.receive(fabric, left_of(fabric), to, count));
    if (!sends_first) status = worst(status, pairs.send(fabric, right_of(fabric), from, count));
    return status;
  });
}

// Counts and places of P parts of `count` elements each, which follow each other.
struct EvenParts {
  EvenParts(std::uint32_t ranks, std::int64_t count) : counts(ranks, count) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) places.push_back(rank * count);
  }
  [[nodiscard]] Parts parts() const {
    const auto ranks = static_cast<std::int64_t>(counts.size());
    return {{counts.data(), 1, ranks}, {places.data(), 1, ranks}};
  }

  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> places;
};
constexpr MemoryRef<std::int64_t> not_wanted{nullptr, 1, 0};

void all_to_all_v_once(Team& team, std::uint64_t bytes) {
  const AllToAllV<T> exchange(team);
  const EvenParts even(team.size(), count_of(bytes));
  const std::int64_t all = count_of(bytes) * team.size();
  const auto [to, from] = ends_of(team, all, all);
  (void)team.lanes(team.max_lanes(), [&](auto& fabric) {
    return exchange.run(fabric, to, even.parts(), not_wanted, from, even.parts());
  });
}

void all_gather_v_once(Team& team, std::uint64_t bytes) {
  const AllGatherV<T> gather(team);
  const EvenParts even(team.size(), count_of(bytes));
  const auto [to, from] = ends_of(team, count_of(bytes) * team.size(), count_of(bytes));
  (void)team.lanes(team.max_lanes(), [&](auto& fabric) {
    return gather.run(fabric, to, even.parts(), not_wanted, from, from.size());
  });
}

void reduce_scatter_v_once(Team& team, std::uint64_t bytes) {
  const ReduceScatterV<T> sums(team);
  const EvenParts even(team.size(), count_of(bytes));
  const auto [to, from] = ends_of(team, count_of(bytes), count_of(bytes) * team.size());
  (void)team.lanes(team.max_lanes(),
                   [&](auto& fabric) { return sums.run(fabric, to, from, even.parts()); });
}

}  // namespace

const std::vector<SizedBody>& collective_bodies() {
  static const std::vector<SizedBody> all{
      {"all_reduce/packets", "everybody sends everything in packets",
       all_reduce_once<Algorithm::packets>},
      {"all_reduce/one_shot", "everybody reads everything", all_reduce_once<Algorithm::one_shot>},
      {"all_reduce/two_phase", "a share is reduced, then all shares are collected",
       all_reduce_once<Algorithm::two_phase>},
      {"all_reduce/ring", "from neighbour to neighbour", all_reduce_once<Algorithm::ring>},
      {"all_reduce/direct", "two phases on windows, nothing staged",
       all_reduce_once<Algorithm::direct>},
      {"reduce_scatter", "a part of the sums to each rank", reduce_scatter_once},
      {"all_gather", "what all ranks have, to each", all_gather_once},
      {"all_to_all", "a part of each rank's to each", all_to_all_once},
      {"all_reduce/one_shot_credits", "one_shot that leaves its cells zero",
       all_reduce_once<Algorithm::one_shot, Cells::credits>},
      {"broadcast", "what rank 0 has, to each", broadcast_once<>},
      {"broadcast_credits", "a broadcast that leaves its cells zero",
       broadcast_once<Cells::credits>},
      {"reduce", "the sums, to rank 0", reduce_once},
      {"gather", "what all ranks have, to rank 0", gather_once},
      {"scatter", "a part of rank 0's to each", scatter_once},
      {"all_to_all_v", "a part of each rank's to each, and its count", all_to_all_v_once},
      {"all_gather_v", "what all ranks have, to each, and its count", all_gather_v_once},
      {"reduce_scatter_v", "a part of the sums to each rank, counts told", reduce_scatter_v_once},
      {"send_receive", "to the right neighbour, and from the left", send_receive_once},
  };
  return all;
}

}  // namespace muster::check
