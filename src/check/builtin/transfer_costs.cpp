#include "check/builtin/transfer_costs.hpp"

#include <fmt/format.h>

#include "muster/packet.hpp"
#include "muster/transfer.hpp"

namespace muster::check {

namespace {

using model::Team;
using Ints = WindowRef<std::int32_t>;

constexpr std::uint64_t least_tile = 8;
constexpr std::uint64_t most_tile = 8192;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U;  // the model keeps books of each word

// call(fabric, transfer) once on each lane, which moves rows of its own.
template <class Call>
void each_lane(Team& team, std::uint64_t bytes, Call&& call) {
  const auto count = static_cast<std::int64_t>(bytes / sizeof(std::int32_t));
  const std::uint32_t lanes = team.max_lanes();
  const Ints target = *team.window<std::int32_t>({lanes, count}, "target");
  const Ints source = *team.window<std::int32_t>({lanes, count}, "source");
  (void)team.lanes(lanes, [&](auto& fabric) {
    const std::int64_t row = fabric.lane().value;
    call(fabric, *make_transfer(target, source, Region{{row, 0}, {row, 0}, 1, count}));
  });
}

void put_once(Team& team, std::uint64_t bytes) {
  each_lane(team, bytes, [](auto& fabric, const auto& transfer) {
    muster::put(fabric, transfer, right_of(fabric));
  });
}

void get_once(Team& team, std::uint64_t bytes) {
  each_lane(team, bytes, [](auto& fabric, const auto& transfer) {
    (void)muster::get(fabric, transfer, right_of(fabric));  // what counts is what it costs
  });
}

void add_once(Team& team, std::uint64_t bytes) {
  each_lane(team, bytes, [](auto& fabric, const auto& transfer) {
    muster::remote_add(fabric, transfer, right_of(fabric));
  });
}

void put_signal_once(Team& team, std::uint64_t bytes) {
  const Rows arrived = *team.rows();
  each_lane(team, bytes, [&](auto& fabric, const auto& transfer) {
    muster::put_signal(fabric, transfer, right_of(fabric),
                       arrived.from(fabric.lane(), fabric.rank()), 1);
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0)
      status = fabric.wait(arrived.from(fabric.lane(), left_of(fabric)), Compare::ge, 1);
    (void)fabric.converge(status);
  });
}

template <std::int64_t elements>
void exchange_once(Team& team) {
  const PacketExchange<std::int32_t, 1, elements> exchange(team);
  (void)team.lanes(team.max_lanes(), [&](auto& fabric) {
    auto mine = fabric.template tile<std::int32_t, 1, elements>();
    auto theirs = fabric.template tile<std::int32_t, 1, elements>();
    const std::uint32_t flag = exchange.begin(fabric);
    WaitStatus status = WaitStatus::ok;
    // The lane together, so not for_each_peer, which strides over its threads.
    for (std::uint32_t step = 1; step < fabric.size(); ++step)
      exchange.put(fabric, flag, right_of(fabric, step), mine);
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const Rank peer = right_of(fabric, step);
      status = worst(status, exchange.wait(fabric, flag, peer, theirs));
    }
    (void)exchange.end(fabric, flag, status);
  });
}

// A tile's size is known when it is compiled: every power of two is.
template <std::uint64_t tile = least_tile>
void exchange_sized(Team& team, std::uint64_t bytes) {
  if (bytes == tile) return exchange_once<tile / sizeof(std::int32_t)>(team);
  if constexpr (tile < most_tile) exchange_sized<2 * tile>(team, bytes);
}

}  // namespace

const std::vector<SizedBody>& sized_bodies() {
  static const std::vector<SizedBody> all = [] {
    std::vector<SizedBody> bodies{
        {"put", "a put to the right neighbour, alone", put_once},
        {"get", "a get from the right neighbour, alone", get_once},
        {"put_signal", "a put with a signal to the right neighbour, and a wait for the left one's",
         put_signal_once},
        {"remote_add", "additions to the right neighbour's elements, alone", add_once},
        {"packet_exchange", "a tile in packets to every peer, and one from each",
         exchange_sized<least_tile>},
    };
    bodies.insert(bodies.end(), collective_bodies().begin(), collective_bodies().end());
    return bodies;
  }();
  return all;
}

const SizedBody* find_sized(const std::string& name) {
  for (const SizedBody& one : sized_bodies())
    if (one.name == name) return &one;
  return nullptr;
}

std::string objection(const SizedBody& sized, std::uint64_t bytes) {
  if (bytes > most_bytes) return "the model counts up to 1M bytes of a transfer";
  const bool tile = bytes >= least_tile && bytes <= most_tile && (bytes & (bytes - 1)) == 0;
  if (std::string(sized.name) == "packet_exchange" && !tile)
    return "a tile in packets is a power of two from 8 to 8K here";
  return {};
}

}  // namespace muster::check
