// What real fabrics refuse is a finding of kind `contract`.
#include "check/asking.hpp"

namespace muster::check {
namespace {

TEST(Contract, WhatDoesNotExist) {
  const auto lane = [](auto body) {
    return [body](model::Team& team) {
      const auto data = *team.window<int>({4}, "data");
      const Signals cell = *team.signals(1);
      (void)team.lane([&](auto& fabric) { body(fabric, data, cell); });
    };
  };
  const auto contract = [&](Profile profile, auto body) {
    EXPECT_FINDS(explore(options_for(2, profile), lane(body)), contract);
  };
  contract(Profile::direct, [](auto& fabric, auto, Signals cell) {
    fabric.notify(cell[0], Rank{2}, 1, NotifyOp::set);
  });
  contract(Profile::direct, [](auto& fabric, auto, Signals cell) {
    fabric.notify(cell[1], Rank{1}, 1, NotifyOp::set);
  });
  contract(Profile::direct, [](auto& fabric, auto data, Signals) { fabric.local(data)[4] = 1; });
  contract(Profile::direct,
           [](auto& fabric, auto data, Signals) { fabric.put(data, Rank{1}, 2, data, 0, 3); });
  contract(Profile::rdma,
           [](auto& fabric, auto data, Signals) { (void)fabric.address(data, Rank{1}); });
}

// Of kernels that overlap two run at a time: a third begins when the first has ended.
TEST(Contract, KernelsThatOverlap) {
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    const auto kernels = [&](auto body) {
      return explore(options_for(2, profile), [&](model::Team& team) {
        const auto data = *team.window<int>({1}, "data");
        (void)team.overlapping_lanes(3, 1, [&](auto& fabric, std::uint32_t) {
          body(fabric);
          fabric.local(data)[0] = 1;
        });
      });
    };
    EXPECT_EQ(kernels([](auto& fabric) { fabric.launch_wait(); }).verdict, Verdict::certified);
    EXPECT_FINDS(kernels([](auto& fabric) {
                   fabric.launch_done();
                   fabric.launch_wait();
                 }),
                 contract);
    EXPECT_FINDS(kernels([](auto&) {}), contract);
  }
}

// Every refusal of src/fabric/host and of the GPU's checks, in the order of host/fabric.cpp.
TEST(Contract, WhatAFabricRefuses) {
  constexpr std::int64_t lines = packet_lines<int>(1);
  const auto refused = [&](auto body) {
    for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc})
      EXPECT_FINDS(
          explore(options_for(2, profile),
                  [&](model::Team& team) {
                    const auto data = *team.window<int>({2, 2}, "data");
                    const auto slots = *team.window<PacketLine>({lines}, "slots");
                    const Signals cell = *team.signals(1);
                    (void)team.lane([&](auto& fabric) { body(fabric, data, slots, cell[0]); });
                  }),
          contract);
  };
  using W = WindowRef<int>;
  const Signal none{0, 7};
  const Rank other{2};
  // wait_any
  refused([](auto& f, W, Slots, Signal) { (void)f.wait_any(nullptr, 0); });
  refused([&](auto& f, W, Slots, Signal) {
    const Condition one{none, Compare::ge, 0};
    (void)f.wait_any(&one, 1);
  });
  // packets
  refused([](auto& f, W, Slots slots, Signal) { f.clear_packets(slots, 0, lines + 1); });
  refused([](auto& f, W data, Slots, Signal) {
    f.clear_packets(Slots{data.offset, 1, 1, data.segment}, 0, 1);
  });
  refused([](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.put_packets(slots, Rank{1}, 0, tile, 0);
  });
  refused([](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    (void)f.wait_packets(tile, slots, 0, 0);
  });
  refused([](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.put_packets(slots, Rank{1}, 1, tile, 1);
  });
  refused([&](auto& f, W, Slots slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.put_packets(slots, other, 0, tile, 1);
  });
  // cells and peers
  refused([&](auto& f, W, Slots, Signal cell) { f.notify(cell, other, 1, NotifyOp::set); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.wait(none, Compare::ge, 0); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.test(none, Compare::ge, 0); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.read(none); });
  refused([&](auto& f, W, Slots, Signal cell) { (void)f.hand(cell, other); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.take(none); });
  refused([&](auto& f, W, Slots, Signal) { (void)f.counter(Counter{0, 7}); });
  refused([&](auto& f, W, Slots, Signal) { f.set_counter(Counter{0, 7}, 1); });
  refused([&](auto& f, W d, Slots, Signal) { (void)f.address(d, other); });
  // windows of another team, or freed
  refused([](auto& f, W d, Slots, Signal) {
    d.team = 1;
    f.put(d, Rank{1}, 0, d, 1, 1);
  });
  refused([](auto& f, W d, Slots, Signal) {
    d.segment = 9;
    f.put(d, Rank{1}, 0, d, 1, 1);
  });
  refused([](auto& f, W d, Slots, Signal) {
    d.segment = 9;
    (void)static_cast<int>(f.local(d)[0]);
  });
  // boxes
  for (const Box box : {Box{1, 0, 2, 1}, Box{0, -1, 1, 1}, Box{0, 0, 1, -1}, Box{0, 0, 2, 2}}) {
    refused([&](auto& f, W d, Slots, Signal) {
      auto tile = f.template tile<int, 2, 1>();
      f.load(tile, d, box);
    });
    refused([&](auto& f, W d, Slots, Signal) {
      auto tile = f.template tile<int, 2, 1>();
      f.remote_add(tile, d, Rank{1}, box);
    });
  }
  refused([&](auto& f, W d, Slots, Signal) {
    auto tile = f.template tile<int, 1, 1>();
    f.remote_store(tile, d, other, Box{0, 0, 1, 1});
  });
  // runs
  refused([](auto& f, W d, Slots, Signal) { f.put(d, Rank{1}, 0, d, -1, 1); });
  refused([](auto& f, W d, Slots, Signal) { f.put(d, Rank{1}, 0, d, 0, -1); });
  refused([](auto& f, W d, Slots, Signal) { (void)f.get(d, 3, d, Rank{1}, 0, 2); });
  refused([&](auto& f, W d, Slots, Signal) { (void)f.get(d, 0, d, other, 0, 1); });
  refused([](auto& f, W d, Slots, Signal cell) {
    f.put_signal(d, Rank{1}, 4, d, 0, 1, cell, 1, NotifyOp::set);
  });
  refused([&](auto& f, W d, Slots, Signal) {
    f.put_signal(d, Rank{1}, 0, d, 0, 1, none, 1, NotifyOp::set);
  });
  // overlaps
  refused([](auto& f, W d, Slots, Signal) { f.put(d, f.rank(), 0, d, 1, 2); });
  refused([](auto& f, W d, Slots, Signal) { f.put(d, f.rank(), 1, d, 1, 1); });
  refused([](auto& f, W d, Slots, Signal) { f.put_async(d, f.rank(), 1, d, 0, 2); });
  refused([](auto& f, W d, Slots, Signal) { (void)f.get(d, 0, d, f.rank(), 1, 2); });
  refused([](auto& f, W d, Slots, Signal) { f.get_async(d, 1, d, f.rank(), 0, 2); });
  refused([](auto& f, W d, Slots, Signal cell) {
    f.put_signal(d, f.rank(), 0, d, 1, 2, cell, 1, NotifyOp::set);
  });
}

}  // namespace
}  // namespace muster::check
