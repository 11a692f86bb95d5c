// muster's transfers, as a user's program calls them.
#include <cstdint>

#include "bench/in_lane.hpp"
#include "bench/transfer/transfer.hpp"
#include "muster/barrier.hpp"
#include "muster/packet.hpp"
#include "muster/team.hpp"
#include "muster/transfer.hpp"

namespace muster::bench {

namespace {

struct Neighbours {
  Rank right;
  Rank left;
};

template <class F>
Neighbours neighbours_of(const F& fabric) {
  return {right_of(fabric), left_of(fabric)};
}

// setup(team) makes the windows; what it returns makes, in the lane and before the clock starts,
// what one call needs besides; and that is called: setup(team)(fabric, around)(epoch).
template <class Setup>
Contender contender(const char* name, const Request& request, const Setup& setup) {
  return in_lane(name, request, [setup](Team& team) {
    return [make = setup(team)](auto& fabric) { return make(fabric, neighbours_of(fabric)); };
  });
}

struct Message {
  Signal signal;
  Transfer<WindowRef<std::int32_t>, WindowRef<std::int32_t>> transfer;
};

// Windows of `bytes`, all of one to all of the other.
Message make_message(Team& team, std::uint64_t bytes) {
  const auto elements = static_cast<std::int64_t>(bytes / sizeof(std::int32_t));
  const auto target = *team.window<std::int32_t>({elements});
  const auto source = *team.window<std::int32_t>({elements});
  return {(*team.signals(1))[0], *make_transfer(target, source)};
}

// To every peer: puts, a barrier, and what arrived into a tile, as packets do. Two targets take
// turns: the barrier of the next call tells that a target has been read.
template <std::int64_t elements>
Contender put_and_barrier(const Request& request) {
  return contender("put, EpochBarrier, load", request, [](Team& team) {
    const auto source = *team.window<float>({elements});
    const auto target = *team.window<float>({2 * std::int64_t{team.size()}, elements});
    const EpochBarrier barrier(team);
    return [=](auto& fabric, Neighbours) {
      return [=, &fabric,
              tile = fabric.template tile<float, 1, elements>()](std::uint32_t epoch) mutable {
        const std::int64_t first = epoch % 2 * fabric.size();
        for_each_peer(fabric, [&](Rank peer) {
          fabric.put(target, peer, target.at(first + fabric.rank().value, 0), source, 0, elements);
        });
        const WaitStatus status = barrier.sync(fabric);
        for_each_peer(fabric, [&](Rank peer) {
          fabric.load(tile, target, Box{first + peer.value, 0, 1, elements});
        });
        return status;
      };
    };
  });
}

// The same by packets: a tile's size is known when it is compiled.
template <std::int64_t elements>
Contender packets(const Request& request) {
  return contender("packets", request, [](Team& team) {
    const PacketExchange<float, 1, elements> exchange(team);
    return [exchange](auto& fabric, Neighbours) {
      return [exchange, &fabric, mine = fabric.template tile<float, 1, elements>(),
              theirs = fabric.template tile<float, 1, elements>()](std::uint32_t) mutable {
        const std::uint32_t flag = exchange.begin(fabric);
        WaitStatus status = WaitStatus::ok;
        for_each_peer(fabric, [&](Rank peer) { exchange.put(fabric, flag, peer, mine); });
        for_each_peer(fabric, [&](Rank peer) {
          status = worst(status, exchange.wait(fabric, flag, peer, theirs));
        });
        return exchange.end(fabric, flag, status);
      };
    };
  });
}

template <std::int64_t elements>
std::vector<Contender> both(const Request& request) {
  return {put_and_barrier<elements>(request), packets<elements>(request)};
}

constexpr std::uint64_t least_tile = 8;
constexpr std::uint64_t most_tile = 8192;

// A tile's size is known when it is compiled: every power of two is.
template <std::uint64_t bytes = least_tile>
std::vector<Contender> packet_contenders(const Request& request) {
  if (request.bytes == bytes) return both<bytes / sizeof(float)>(request);
  if constexpr (bytes < most_tile) return packet_contenders<2 * bytes>(request);
  return {{.name = "packets",
           .as = request.as,
           .why_not = "tiles of 8 bytes to 8 KiB are compiled in, each twice the one before"}};
}

}  // namespace

Contender muster_notify(const Request& request) {
  return contender("notify, wait", request, [](Team& team) {
    return [signal = (*team.signals(1))[0]](auto& fabric, Neighbours around) {
      return [=, &fabric](std::uint32_t epoch) {
        fabric.notify(signal, around.right, epoch, NotifyOp::set);
        return fabric.wait(signal, Compare::ge, epoch);
      };
    };
  });
}

Contender muster_put(const Request& request) {
  return contender("put_signal, wait", request, [bytes = request.bytes](Team& team) {
    return [message = make_message(team, bytes)](auto& fabric, Neighbours around) {
      return [=, &fabric](std::uint32_t epoch) {
        put_signal(fabric, message.transfer, around.right, message.signal, epoch);
        return fabric.wait(message.signal, Compare::ge, epoch);
      };
    };
  });
}

Contender muster_get(const Request& request) {
  return contender("notify, wait, get", request, [bytes = request.bytes](Team& team) {
    return [message = make_message(team, bytes)](auto& fabric, Neighbours around) {
      return [=, &fabric](std::uint32_t epoch) {
        fabric.notify(message.signal, around.right, epoch, NotifyOp::set);
        const WaitStatus status = fabric.wait(message.signal, Compare::ge, epoch);
        return status == WaitStatus::ok ? get(fabric, message.transfer, around.left) : status;
      };
    };
  });
}

Contender muster_add(const Request& request) {
  return contender("remote_add, notify, wait", request, [bytes = request.bytes](Team& team) {
    return [message = make_message(team, bytes)](auto& fabric, Neighbours around) {
      return [=, &fabric](std::uint32_t epoch) {
        remote_add(fabric, message.transfer, around.right);
        fabric.notify(message.signal, around.right, epoch, NotifyOp::set);
        return fabric.wait(message.signal, Compare::ge, epoch);
      };
    };
  });
}

std::vector<Contender> muster_packets(const Request& request) {
  return packet_contenders(request);
}

}  // namespace muster::bench
