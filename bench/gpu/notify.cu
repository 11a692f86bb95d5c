// One-way latency of a signal between two GPUs: half a ping-pong, of lanes of one thread.
#include "bench/gpu/site.hpp"

namespace muster::bench_gpu {

namespace {

// Each call is a round: rank 0 speaks first.
template <class Send, class Await>
__device__ void ping_pong(std::uint32_t rank, Timing timing, Send send, Await await) {
  if (rank == 0)
    time_calls(timing, [&] {
      send();
      await();
    });
  else
    time_calls(timing, [&] {
      await();
      send();
    });
}

// By set every deposit is the next epoch, by add it is 1: the word holds the epoch either way.
template <bool ordered, bool add>
__global__ void bare_kernel(std::uint32_t rank, Wires wires, std::uint32_t first, Timing timing) {
  std::uint32_t sent = first;
  std::uint32_t seen = first;
  ping_pong(
      rank, timing,
      [&] {
        ++sent;
        if constexpr (add)
          Word(*wires.theirs).fetch_add(1, release_of<ordered>);
        else
          Word(*wires.theirs).store(sent, release_of<ordered>);
      },
      [&] { wait_for<ordered>(wires, ++seen); });
}

template <Order release, Order acquire, NotifyOp op>
__global__ void muster_kernel(const __grid_constant__ gpu::Handle handle, Signal signal,
                              std::uint32_t first, WindowRef<std::uint64_t> nanoseconds,
                              std::uint32_t calls) {
  gpu::Fabric<gpu::Thread> fabric(handle);
  const Rank peer{1 - fabric.rank().value};
  std::uint32_t sent = first;
  std::uint32_t seen = first;
  WaitStatus status = WaitStatus::ok;
  ping_pong(
      fabric.rank().value, timing_of(fabric, nanoseconds, calls),
      [&] {
        ++sent;
        fabric.notify(signal, peer, op == NotifyOp::add ? 1 : sent, op, release);
      },
      [&] { status = worst(status, fabric.wait(signal, Compare::ge, ++seen, acquire)); });
  if (status != WaitStatus::ok) fabric.local(nanoseconds)[0] = 0;
}

// run(first, calls) starts the kernels, whose epochs begin at `first`.
template <class Run>
Contender half_rounds(const Kept& site, const std::string& role, const std::string& name, Run run) {
  const auto epoch = std::make_shared<std::uint32_t>(0);
  return {role, "", name, [=](std::uint32_t calls) {
            run(*epoch, calls);
            *epoch += warm_calls + calls;
            return site->timed_call(calls) / 2;
          }};
}

template <bool ordered, bool add>
Contender bare(const Kept& site, const std::string& role, const std::string& name) {
  const std::uint32_t word = site->take_word();
  return half_rounds(site, role, name, [=](std::uint32_t first, std::uint32_t calls) {
    site->on_each([&](Rank rank, gpu::Stream stream) {
      bare_kernel<ordered, add><<<1, 1, 0, stream>>>(rank.value, site->wires(rank, word), first,
                                                     site->timing(rank, calls));
    });
  });
}

template <bool ordered, NotifyOp op>
Contender of_muster(const Kept& site, const std::string& name) {
  constexpr Order release = ordered ? Order::release : Order::relaxed;
  constexpr Order acquire = ordered ? Order::acquire : Order::relaxed;
  const Signal signal = need(site->world.signals(1))[0];
  const gpu::Shape shape{.lanes = 1, .threads = 1};
  const auto kernel = muster_kernel<release, acquire, op>;
  need(site->world.prepare(kernel, shape));
  return half_rounds(site, "muster", name, [=](std::uint32_t first, std::uint32_t calls) {
    need(site->world.launch(kernel, shape, signal, first, site->nanoseconds, calls));
  });
}

template <bool ordered>
std::vector<Contender> of_order() {
  const Kept site = make_site(2);
  return {bare<ordered, false>(site, "floor", "bare store"),
          of_muster<ordered, NotifyOp::set>(site, "notify set, wait"),
          bare<ordered, true>(site, "bare", "bare add"),
          of_muster<ordered, NotifyOp::add>(site, "notify add, wait")};
}

}  // namespace

std::vector<Contender> notifies(const std::string& variant) {
  if (variant == "relaxed") return of_order<false>();
  if (variant == "release") return of_order<true>();
  throw Unavailable("there is no table of notifies '" + variant + "'");
}

}  // namespace muster::bench_gpu
