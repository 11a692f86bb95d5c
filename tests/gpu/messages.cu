// What transfers carry and when they have arrived: tests/conformance/transfer_bodies.hpp, and runs
// of packets, as kernels, on 2, 3, 4 and 8 ranks, on one GPU and on two.
#include "gpu/device_checks.cuh"
#include "gpu/exchange.cuh"
#include "muster/barrier/epoch.hpp"
#include "muster/packet.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

constexpr std::int64_t message = 1003;  // elements
constexpr std::uint32_t rounds = 60;

struct Mailboxes {
  Signals signals;
  WindowRef<std::int32_t> outbox;
  WindowRef<std::int32_t> inbox;
};

[[nodiscard]] __device__ std::uint32_t element_of(Rank rank, std::uint32_t round,
                                                  std::int64_t index) {
  return rank.value * 1'000'000 + round * 10'000 + static_cast<std::uint32_t>(index);
}

enum class Way {
  store_notify_get,
  put_notify,
  put_signal_set,
  put_signal_add,
  async_puts,
  async_gets,
  direct_stores,
};

// Hands the message of a round to the right neighbour; ends in a deposit into signals[0].
template <Way way, class F>
__device__ void send(F& fabric, const Mailboxes& mail, std::uint32_t round) {
  const Rank right = right_of(fabric);
  if constexpr (way == Way::put_signal_set || way == Way::put_signal_add) {
    const bool set = way == Way::put_signal_set;
    fabric.put_signal(mail.inbox, right, 0, mail.outbox, 0, message, mail.signals[0],
                      set ? round : 1, set ? NotifyOp::set : NotifyOp::add);
    return;
  }
  if constexpr (way == Way::put_notify) fabric.put(mail.inbox, right, 0, mail.outbox, 0, message);
  if constexpr (way == Way::async_puts) {
    for (std::int64_t at = 0; at < message; at += 100)
      fabric.put_async(mail.inbox, right, at, mail.outbox, at,
                       message - at < 100 ? message - at : 100);
    (void)fabric.flush();
  }
  if constexpr (way == Way::direct_stores)
    for_each_index(fabric, message, [&](std::int64_t i) {
      fabric.address(mail.inbox, right)[i] = fabric.local(mail.outbox)[i];
    });
  fabric.converge();
  if (fabric.thread() == 0) fabric.notify(mail.signals[0], right, round, NotifyOp::set);
}

template <Way way, class F>
__device__ void receive(F& fabric, const Mailboxes& mail) {
  const Rank left = left_of(fabric);
  if constexpr (way == Way::store_notify_get)
    (void)fabric.get(mail.inbox, 0, mail.outbox, left, 0, message);
  if constexpr (way == Way::async_gets) {
    for (std::int64_t at = 0; at < message; at += 100)
      fabric.get_async(mail.inbox, at, mail.outbox, left, at,
                       message - at < 100 ? message - at : 100);
    (void)fabric.flush();
  }
}

// A ring: each rank hands its right neighbour a message each round, and goes on when the neighbour
// has read it. Where it is put, its source is reusable at once.
template <Way way, class Coop>
__global__ void ring_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                            Mailboxes mail) {
  constexpr bool gets = way == Way::store_notify_get || way == Way::async_gets;
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  const auto wait = [&](Signal signal, std::uint32_t round) {
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) status = fabric.wait(signal, Compare::ge, round);
    return fabric.converge(status);
  };
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    for_each_index(fabric, message, [&](std::int64_t i) {
      fabric.local(mail.outbox)[i] = static_cast<std::int32_t>(element_of(fabric.rank(), round, i));
    });
    send<way>(fabric, mail, round);
    if constexpr (!gets) {
      fabric.converge();  // all threads have sent their share
      for_each_index(fabric, message, [&](std::int64_t i) { fabric.local(mail.outbox)[i] = -1; });
    }
    if (!checks.ok(wait(mail.signals[0], round))) return;
    receive<way>(fabric, mail);
    // By other threads than those that copied it.
    for_each_index(fabric, message, [&](std::int64_t i) {
      const std::int64_t other = message - 1 - i;
      checks.equal(static_cast<std::uint32_t>(fabric.local(mail.inbox)[other]),
                   element_of(left_of(fabric), round, other));
    });
    fabric.converge();
    if (fabric.thread() == 0) fabric.notify(mail.signals[1], left_of(fabric), round, NotifyOp::set);
    if (!checks.ok(wait(mail.signals[1], round))) return;
  }
  if (fabric.thread() == 0) checks.end();
}

template <Way way, class Coop>
void ring_of(std::uint32_t threads) {
  on_every_placement(1, [&](gpu::World& world, const Board& board) {
    const Mailboxes mail{need(world.signals(2)), need(world.window<std::int32_t>({message})),
                         need(world.window<std::int32_t>({message}))};
    need(world.launch(ring_kernel<way, Coop>, {.lanes = 1, .threads = threads}, board, mail));
  });
}

template <Way way>
void ring() {
  ring_of<way, gpu::Thread>(1);
  ring_of<way, gpu::Warp>(32);
  ring_of<way, gpu::Block<256>>(256);
}

// What a lane has itself acquired is carried on, and a put to a third rank after a flush: the news
// goes along the ranks, and the last one sees what rank 0 stored and what it put there.
__global__ void relay_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                             Mailboxes mail, std::uint32_t round) {
  gpu::Fabric<gpu::Block<64>> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Rank last{fabric.size() - 1};
  if (fabric.rank() == Rank{0}) {
    for_each_index(fabric, message, [&](std::int64_t i) {
      fabric.local(mail.outbox)[i] = static_cast<std::int32_t>(element_of(Rank{0}, round, i));
    });
    fabric.put(mail.inbox, last, 0, mail.outbox, 0, message);
    (void)fabric.flush();
  } else {
    WaitStatus status = WaitStatus::ok;
    if (fabric.thread() == 0) status = fabric.wait(mail.signals[0], Compare::ge, round);
    if (!checks.ok(fabric.converge(status))) return;
    for_each_index(fabric, message, [&](std::int64_t i) {
      checks.equal(static_cast<std::uint32_t>(fabric.address(mail.outbox, Rank{0})[i]),
                   element_of(Rank{0}, round, i));
      if (fabric.rank() == last)
        checks.equal(static_cast<std::uint32_t>(fabric.local(mail.inbox)[i]),
                     element_of(Rank{0}, round, i));
    });
  }
  fabric.converge();
  if (fabric.thread() != 0) return;
  if (fabric.rank() != last) fabric.notify(mail.signals[0], right_of(fabric), round, NotifyOp::set);
  checks.end();
}

void relay() {
  constexpr std::uint32_t launches = 30;
  on_every_placement(launches, [](gpu::World& world, const Board& board) {
    const Mailboxes mail{need(world.signals(1)), need(world.window<std::int32_t>({message})),
                         need(world.window<std::int32_t>({message}))};
    const gpu::Shape shape{.lanes = 1, .threads = 64};
    for (std::uint32_t round = 1; round <= launches; ++round) {
      need(world.launch(relay_kernel, shape, board, mail, round));
      need(world.synchronize());  // all have read before rank 0 writes again
    }
  });
}

// ---- any number of elements in packets

[[nodiscard]] __device__ std::uint32_t number_of(Rank rank, Lane lane, std::uint32_t call,
                                                 std::int64_t index) {
  return mix(rank.value * 64 + lane.value, call * 4096 + static_cast<std::uint32_t>(index));
}

template <std::int64_t C, class Coop>
__global__ void runs_kernel(const __grid_constant__ gpu::Handle handle, Board board,
                            PacketExchange<std::uint32_t, 1, C> exchange,
                            WindowRef<std::uint32_t> from, std::uint32_t first) {
  gpu::Fabric<Coop> fabric(handle);
  DeviceChecks checks(fabric, board);
  const Lane lane = fabric.lane();
  auto tile = fabric.template tile<std::uint32_t, 1, C>();
  for (std::uint32_t call = first; call < first + rounds; ++call) {
    const std::int64_t count = call * 37 % (from.cols + 1);
    for_each_index(fabric, count, [&](std::int64_t at) {
      fabric.local(from)[from.at(lane.value, at)] = number_of(fabric.rank(), lane, call, at);
    });
    fabric.converge();
    const std::uint32_t flag = exchange.begin(fabric, count);
    for (std::int64_t index = 0; index < exchange.tiles(count); ++index) {
      const Box box = exchange.box(index, count);
      fabric.load(tile, from, Box{lane.value, box.col, 1, box.cols});
      for (std::uint32_t step = 1; step < fabric.size(); ++step)
        exchange.put(fabric, flag, right_of(fabric, step), tile, index);
    }
    WaitStatus status = WaitStatus::ok;
    for (std::uint32_t step = 1; step < fabric.size(); ++step) {
      const Rank peer = right_of(fabric, step);
      for (std::int64_t index = 0; index < exchange.tiles(count); ++index) {
        status = worst(status, exchange.wait(fabric, flag, peer, tile, index));
        if (status != WaitStatus::ok) continue;
        tile.each([&](std::int64_t, std::int64_t col, std::uint32_t element) {
          const std::int64_t at = index * C + col;
          checks.equal(element, at < count ? number_of(peer, lane, call, at) : 0);
        });
      }
    }
    if (!checks.ok(exchange.end(fabric, flag, status))) return;
  }
  if (fabric.thread() == 0) checks.end();
}

// Several tiles a call, the last one ragged: of 1 x C.
template <std::int64_t C, class Coop>
void packet_runs(std::uint32_t threads) {
  constexpr std::int64_t most = 4 * C + 5;
  constexpr std::uint32_t lanes = 3;
  on_every_placement(2 * lanes, [=](gpu::World& world, const Board& board) {
    const PacketExchange<std::uint32_t, 1, C> exchange(world, most);
    const auto from = need(world.window<std::uint32_t>({lanes, most}));
    const gpu::Shape shape{.lanes = lanes, .threads = threads};
    for (const std::uint32_t first : {0U, rounds})
      need(world.launch(runs_kernel<C, Coop>, shape, board, exchange, from, first));
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run("messages", argc, argv,
             {{"store_notify_get", ring<Way::store_notify_get>},
              {"put_notify", ring<Way::put_notify>},
              {"put_signal_set", ring<Way::put_signal_set>},
              {"put_signal_add", ring<Way::put_signal_add>},
              {"async_puts", ring<Way::async_puts>},
              {"async_gets", ring<Way::async_gets>},
              {"direct_stores", ring<Way::direct_stores>},
              {"relay", relay},
              {"packet_runs_of_a_warp", [] { packet_runs<48, gpu::Warp>(32); }},
              {"packet_runs_of_a_block", [] { packet_runs<256, gpu::Block<64>>(64); }}});
}
