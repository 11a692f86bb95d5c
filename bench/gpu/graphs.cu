#include "bench/gpu/graphs.hpp"

namespace muster::bench_gpu {

gpu::Stream Graphs::turn_to(std::uint32_t rank) const {
  must(cudaSetDevice(site_->world.device(rank)), "turning to a GPU");
  return site_->world.stream(rank);
}

cudaGraph_t Graphs::captured(gpu::Stream stream, const std::function<void()>& launch) const {
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  try {
    for (std::uint32_t i = 0; i < shape_.nodes; ++i) launch();
  } catch (...) {
    // The stream is to be used again: by contenders that can be captured.
    (void)cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    throw;
  }
  must(cudaStreamEndCapture(stream, &graph), "ending a capture");
  return graph;
}

void Graphs::make(OfRank& one, cudaGraph_t graph, gpu::Stream stream) {
  must(cudaGraphInstantiate(&one.graph, graph, 0), "instantiating a graph");
  must(cudaGraphDestroy(graph), "destroying a graph");
  must(cudaGraphUpload(one.graph, stream), "uploading a graph");
  must(cudaEventCreate(&one.begin), "making an event");
  must(cudaEventCreate(&one.end), "making an event");
  must(cudaStreamSynchronize(stream), "uploading a graph");
}

Graphs::~Graphs() {
  for (const OfRank& one : of_rank_) {
    (void)cudaGraphExecDestroy(one.graph);
    (void)cudaEventDestroy(one.begin);
    (void)cudaEventDestroy(one.end);
  }
}

double Graphs::measure(std::uint32_t calls) {
  const std::uint32_t replays = std::max(1U, (calls + shape_.nodes - 1) / shape_.nodes);
  // Rank 0 comes last, and no rank is more than one graph ahead: this thread must not be blocked by
  // a full queue.
  for (std::uint32_t i = 0; i < replays; ++i)
    for (std::uint32_t rank = shape_.ranks; rank-- > 0;) {
      const gpu::Stream stream = turn_to(rank);
      if (i == 0) must(cudaEventRecord(of_rank_[rank].begin, stream), "starting a timer");
      must(cudaGraphLaunch(of_rank_[rank].graph, stream), "launching a graph");
      if (i + 1 == replays) must(cudaEventRecord(of_rank_[rank].end, stream), "stopping a timer");
    }
  need(site_->world.synchronize());
  float longest = 0;
  for (std::uint32_t rank = 0; rank < (shape_.coupled ? 1 : shape_.ranks); ++rank) {
    (void)turn_to(rank);
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, of_rank_[rank].begin, of_rank_[rank].end),
         "reading a timer");
    longest = std::max(longest, milliseconds);
  }
  return 1e6 * static_cast<double>(longest) / static_cast<double>(replays) / shape_.nodes;
}

}  // namespace muster::bench_gpu
