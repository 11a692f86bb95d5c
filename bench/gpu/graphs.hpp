// A graph of launches, one after the other, for each GPU that takes part: what a kernel costs that
// stands alone.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "bench/gpu/site.hpp"

namespace muster::bench_gpu {

struct GraphShape {
  std::uint32_t ranks = 2;    // that take part, from 0 on
  std::uint32_t nodes = 500;  // launches
  bool coupled = true;        // the ranks' kernels wait for each other
};

class Graphs {
 public:
  // launch(rank, stream) makes one of the launches, which are captured.
  template <class Launch>
  Graphs(Kept site, const GraphShape& shape, Launch launch)
      : site_(std::move(site)), shape_(shape), of_rank_(shape.ranks) {
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const gpu::Stream stream = turn_to(rank);
      make(of_rank_[rank], captured(stream, [&] { launch(Rank{rank}, stream); }), stream);
    }
  }
  ~Graphs();
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  // Nanoseconds for one of at least `calls` launches: on the slowest GPU, or, where they are
  // coupled, on the one that starts last.
  [[nodiscard]] double measure(std::uint32_t calls);

 private:
  struct OfRank {
    cudaGraphExec_t graph = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
  };

  gpu::Stream turn_to(std::uint32_t rank) const;
  [[nodiscard]] cudaGraph_t captured(gpu::Stream stream, const std::function<void()>& launch) const;
  static void make(OfRank& one, cudaGraph_t graph, gpu::Stream stream);

  Kept site_;
  GraphShape shape_;
  std::vector<OfRank> of_rank_;
};

// A contender whose calls are the nodes of such a graph.
template <class Launch>
[[nodiscard]] Contender in_graph(const Kept& site, const std::string& role, const std::string& peer,
                                 const std::string& name, const GraphShape& shape, Launch launch) {
  // Made when it is first measured: what cannot be captured fails alone.
  const auto graphs = std::make_shared<std::unique_ptr<Graphs>>();
  return {role, peer, name, [=](std::uint32_t calls) {
            if (*graphs == nullptr) *graphs = std::make_unique<Graphs>(site, shape, launch);
            return (*graphs)->measure(calls);
          }};
}

}  // namespace muster::bench_gpu
