// Barriers between two GPUs, in a kernel: muster's against the bare exchange of the same order and
// the compare-and-swap barrier.
#include "bench/gpu/site.hpp"

namespace muster::bench_gpu {

namespace {

template <bool ordered>
Contender bare_exchange(const Kept& site, std::uint32_t threads) {
  const std::uint32_t word = site->take_word();
  const auto value = std::make_shared<std::uint32_t>(0);
  return {"floor", "", "bare exchange", [=](std::uint32_t calls) {
            site->on_each([&](Rank rank, gpu::Stream stream) {
              exchange_loop<ordered><<<1, threads, 0, stream>>>(site->wires(rank, word), *value,
                                                                site->timing(rank, calls));
            });
            *value += warm_calls + calls;
            return site->timed_call(calls);
          }};
}

template <bool ordered>
Contender swap_barrier(const Kept& site, std::uint32_t threads) {
  const std::uint32_t word = site->take_word();
  return {"peer", "cas", "compare-and-swap barrier", [=](std::uint32_t calls) {
            site->on_each([&](Rank rank, gpu::Stream stream) {
              swap_loop<ordered>
                  <<<1, threads, 0, stream>>>(site->wires(rank, word), site->timing(rank, calls));
            });
            return site->timed_call(calls);
          }};
}

template <class Barrier, class Kernel>
Contender of_muster(const Kept& site, const std::string& name, std::uint32_t threads,
                    Kernel kernel) {
  const Barrier barrier(need(site->world.rows(1)));
  const gpu::Shape shape{.lanes = 1, .threads = threads};
  need(site->world.prepare(kernel, shape));
  return {"muster", "", name, [=](std::uint32_t calls) {
            need(site->world.launch(kernel, shape, barrier, site->nanoseconds, calls));
            return site->timed_call(calls);
          }};
}

template <class Coop, bool ordered>
std::vector<Contender> of_threads(const Kept& site, std::uint32_t threads) {
  return {bare_exchange<ordered>(site, threads),
          of_muster<EpochBarrier>(site, "EpochBarrier, scoped", threads,
                                  scoped_loop<Coop, EpochBarrier, ordered>),
          of_muster<EpochBarrier>(site, "EpochBarrier", threads,
                                  single_loop<Coop, EpochBarrier, ordered>),
          swap_barrier<ordered>(site, threads)};
}

// All kinds, on lanes of one warp.
template <bool ordered>
std::vector<Contender> of_a_warp(const Kept& site) {
  using gpu::Warp;
  std::vector<Contender> all = of_threads<Warp, ordered>(site, 32);
  all.push_back(of_muster<EpochBarrier>(site, "EpochBarrier, scoped, as Block<>", 32,
                                        scoped_loop<gpu::Block<>, EpochBarrier, ordered>));
  all.push_back(of_muster<DisseminationBarrier>(site, "DisseminationBarrier, scoped", 32,
                                                scoped_loop<Warp, DisseminationBarrier, ordered>));
  all.push_back(
      of_muster<FlipBarrier>(site, "FlipBarrier", 32, single_loop<Warp, FlipBarrier, ordered>));
  all.push_back(of_muster<CreditBarrier>(site, "CreditBarrier", 32,
                                         single_loop<Warp, CreditBarrier, ordered>));
  all.push_back(of_muster<CounterBarrier>(site, "CounterBarrier", 32,
                                          single_loop<Warp, CounterBarrier, ordered>));
  return all;
}

}  // namespace

std::vector<Contender> barriers(const std::string& variant) {
  const Kept site = make_site(2);
  if (variant == "relaxed, 32 threads") return of_a_warp<false>(site);
  if (variant == "acq_rel, 32 threads") return of_a_warp<true>(site);
  if (variant == "relaxed, 256 threads") return of_threads<gpu::Block<256>, false>(site, 256);
  if (variant == "acq_rel, 256 threads") return of_threads<gpu::Block<256>, true>(site, 256);
  if (variant == "relaxed, 1024 threads") return of_threads<gpu::Block<1024>, false>(site, 1024);
  if (variant == "acq_rel, 1024 threads") return of_threads<gpu::Block<1024>, true>(site, 1024);
  throw Unavailable("there is no table of barriers '" + variant + "'");
}

}  // namespace muster::bench_gpu
