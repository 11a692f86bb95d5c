// muster's collectives of floats, as a user's program calls them.
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/collective/collective.hpp"
#include "bench/in_lane.hpp"
#include "muster/collective.hpp"

namespace muster::bench {

namespace {

// Plain memory of one rank, kept by the call that uses it.
struct Buffers {
  Buffers(std::int64_t to_count, std::int64_t from_count)
      : to_elements(static_cast<std::size_t>(to_count)),
        from_elements(static_cast<std::size_t>(from_count), 1.0F) {}
  std::vector<float> to_elements;
  std::vector<float> from_elements;
  [[nodiscard]] MemoryRef<float> to() {
    return {to_elements.data(), 1, static_cast<std::int64_t>(to_elements.size())};
  }
  [[nodiscard]] MemoryRef<float> from() {
    return {from_elements.data(), 1, static_cast<std::int64_t>(from_elements.size())};
  }
};

std::int64_t count_of(const Request& request) {
  return static_cast<std::int64_t>(request.bytes / sizeof(float));
}

// make(team) -> object; run(object, fabric, buffers) is one call. The buffers hold to_parts and
// from_parts times the count: 0 stands for the number of ranks.
template <class Make, class Run>
Contender on_memory(const char* name, const Request& request, std::int64_t to_parts,
                    std::int64_t from_parts, Make make, Run run) {
  const std::int64_t count = count_of(request);
  return in_lane(name, request, [=](Team& team) {
    const std::int64_t ranks = team.size();
    const auto buffers = std::make_shared<Buffers>(count * (to_parts == 0 ? ranks : to_parts),
                                                   count * (from_parts == 0 ? ranks : from_parts));
    const auto object = make(team);
    return [=](auto& fabric) {
      return [=, &fabric](std::uint32_t) { return run(object, fabric, *buffers, count); };
    };
  });
}

Contender all_reduce_on_memory(const char* name, const Request& request, Algorithm algorithm) {
  Contender contender = on_memory(
      name, request, 1, 1,
      [algorithm](Team& team) { return AllReduce<float>(team, {.algorithm = algorithm}); },
      [](const auto& sum, auto& fabric, Buffers& buffers, std::int64_t count) {
        return sum.run(fabric, buffers.to(), buffers.from(), count);
      });
  contender.algorithm = name;
  return contender;
}

Contender all_reduce_on_windows(const char* name, const Request& request) {
  Contender contender = in_lane(name, request, [count = count_of(request)](Team& team) {
    const auto window = *team.window<float>({count});
    const AllReduce<float> sum(team, {.algorithm = Algorithm::direct});
    return [=](auto& fabric) {
      return [=, &fabric](std::uint32_t) { return sum.run(fabric, window, window, count); };
    };
  });
  contender.algorithm = "direct";
  return contender;
}

}  // namespace

std::vector<Contender> muster_all_reduce(const Request& request) {
  return {all_reduce_on_memory("automatic", request, Algorithm::automatic),
          all_reduce_on_memory("packets", request, Algorithm::packets),
          all_reduce_on_memory("one_shot", request, Algorithm::one_shot),
          all_reduce_on_memory("two_phase", request, Algorithm::two_phase),
          all_reduce_on_memory("ring", request, Algorithm::ring),
          all_reduce_on_windows("direct, in place on windows", request)};
}

Contender muster_reduce_scatter(const Request& request) {
  return on_memory(
      "ReduceScatter", request, 1, 0, [](Team& team) { return ReduceScatter<float>(team); },
      [](const auto& sum, auto& fabric, Buffers& buffers, std::int64_t count) {
        return sum.run(fabric, buffers.to(), buffers.from(), count);
      });
}

Contender muster_all_gather(const Request& request) {
  return on_memory(
      "AllGather", request, 0, 1, [](Team& team) { return AllGather<float>(team); },
      [](const auto& gather, auto& fabric, Buffers& buffers, std::int64_t count) {
        return gather.run(fabric, buffers.to(), buffers.from(), count);
      });
}

Contender muster_broadcast(const Request& request) {
  return on_memory(
      "Broadcast", request, 1, 1, [](Team& team) { return Broadcast<float>(team); },
      [](const auto& broadcast, auto& fabric, Buffers& buffers, std::int64_t count) {
        return broadcast.run(fabric, buffers.to(), buffers.to(), count, Rank{0});
      });
}

Contender muster_all_to_all(const Request& request) {
  return on_memory(
      "AllToAll", request, 0, 0, [](Team& team) { return AllToAll<float>(team); },
      [](const auto& exchange, auto& fabric, Buffers& buffers, std::int64_t count) {
        return exchange.run(fabric, buffers.to(), buffers.from(), count);
      });
}

Contender muster_reduce(const Request& request) {
  return on_memory(
      "Reduce", request, 1, 1, [](Team& team) { return Reduce<float>(team); },
      [](const auto& reduce, auto& fabric, Buffers& buffers, std::int64_t count) {
        return reduce.run(fabric, buffers.to(), buffers.from(), count, Rank{0});
      });
}

Contender muster_gather(const Request& request) {
  return on_memory(
      "Gather", request, 0, 1, [](Team& team) { return Gather<float>(team); },
      [](const auto& gather, auto& fabric, Buffers& buffers, std::int64_t count) {
        return gather.run(fabric, buffers.to(), buffers.from(), count, Rank{0});
      });
}

Contender muster_scatter(const Request& request) {
  return on_memory(
      "Scatter", request, 1, 0, [](Team& team) { return Scatter<float>(team); },
      [](const auto& scatter, auto& fabric, Buffers& buffers, std::int64_t count) {
        return scatter.run(fabric, buffers.to(), buffers.from(), count, Rank{0});
      });
}

}  // namespace muster::bench
