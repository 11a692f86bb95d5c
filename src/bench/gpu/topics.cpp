#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bench/gpu/gpu.hpp"
#include "bench/machine.hpp"
#include "bench/program.hpp"

namespace muster::bench {

namespace {

// A library that is measured by a program of its own.
struct Library {
  std::string peer;  // what --peer calls it
  std::string program;
  std::string name;  // in the line that says why it is not measured
  std::string built_where;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> all{
      {"nccl", "muster-peer-nccl", "NCCL", "CMake finds NCCL 2.28 or later"},
      {"nvshmem", "muster-peer-nvshmem", "NVSHMEM", "CMake finds NVSHMEM 3"},
      {"pytorch", "muster-peer-pytorch", "PyTorch", "CMake finds nvcc"}};
  return all;
}

constexpr const char* own_program = "muster-bench-gpu";

// Started when they are first asked, and kept: they end with this program.
MeasuringProgram* find(const std::string& name) {
  static std::map<std::string, std::unique_ptr<MeasuringProgram>> known;
  const auto entry = known.find(name);
  if (entry != known.end()) return entry->second.get();
  const std::string path = beside_this_program(name);
  if (path.empty()) return nullptr;
  return known.emplace(name, std::make_unique<MeasuringProgram>(path)).first->second.get();
}

bool is_wanted(const std::string& peer, const Request& request) {
  return std::find(request.peers.begin(), request.peers.end(), peer) != request.peers.end();
}

// One line in place of contenders that are not there.
Contender absent(const std::string& name, const std::string& peer, const Error& why) {
  Contender line{.name = name,
                 .group = peer,
                 .role = peer.empty() ? Role::muster : Role::peer,
                 .as = As::gpus,
                 .why_not = why.what};
  if (why.code == ErrorCode::unavailable) return line;
  line.why_not.clear();
  line.run = [why](const Plan&) -> Result<Blocks> { return why; };  // a failure, not an absence
  return line;
}

std::vector<Contender> of_library(const Library& library, const std::string& topic,
                                  const Request& request) {
  MeasuringProgram* const program = find(library.program);
  if (program == nullptr)
    return {absent(library.name, library.peer,
                   Error{ErrorCode::unavailable, library.program +
                                                     " is not beside muster: it is built where " +
                                                     library.built_where})};
  Result<std::vector<Contender>> listed = program->list(topic, request);
  if (!listed) return {absent(library.name, library.peer, listed.error())};
  return std::move(*listed);
}

std::vector<Contender> contenders(const std::string& topic, const std::vector<std::string>& peers,
                                  const Request& request) {
  MeasuringProgram* const own = find(own_program);
  if (own == nullptr) return {};
  Result<std::vector<Contender>> listed = own->list(topic, request);
  if (!listed) return {absent("muster", "", listed.error())};
  std::vector<Contender> all = std::move(*listed);
  for (const Library& library : libraries()) {
    const bool here = std::find(peers.begin(), peers.end(), library.peer) != peers.end();
    if (!here || !is_wanted(library.peer, request)) continue;  // its program is not started
    for (Contender& contender : of_library(library, topic, request))
      all.push_back(std::move(contender));
  }
  return all;
}

Result<std::string> devices() {
  MeasuringProgram* const own = find(own_program);
  if (own == nullptr)
    return Error{
        ErrorCode::unavailable,
        std::string(own_program) + " is not beside muster: it is built where CMake finds nvcc"};
  return own->devices();
}

Topic gpu_topic(const std::string& name, std::string unit, std::string summary,
                const std::vector<std::string>& peers, std::vector<std::string> variants) {
  Topic topic{.name = name,
              .fabric = "gpu",
              .unit = std::move(unit),
              .summary = std::move(summary),
              .peers = peers,
              .contenders = [name, peers](const Request& request) {
                return contenders(name, peers, request);
              }};
  topic.variants = std::move(variants);
  topic.block = std::chrono::milliseconds{5};  // in kernels, which nothing interrupts
  topic.devices = devices;
  topic.fixed_ranks = true;
  return topic;
}

Topic sized(Topic topic, Sizes sizes, std::uint64_t step, std::uint64_t most) {
  topic.sizes = std::move(sizes);
  topic.size_step = step;
  topic.most_size = most;
  return topic;
}

}  // namespace

std::vector<Topic> gpu_topics() {
  const Sizes bulk{4U << 10U, 64U << 10U, 1U << 20U, 16U << 20U, 128U << 20U};
  const std::vector<std::string> ways{"one way", "both ways"};
  return {
      gpu_topic("barrier", "barrier", "Latency of each barrier",
                {"cas", "nccl", "nvshmem", "pytorch"},
                {"relaxed, 32 threads", "relaxed, 256 threads", "relaxed, 1024 threads",
                 "acq_rel, 32 threads", "acq_rel, 256 threads", "acq_rel, 1024 threads",
                 "a kernel each, in a graph"}),
      gpu_topic("notify", "one-way notify", "Half a ping-pong of signals", {"nvshmem"},
                {"relaxed", "release"}),
      sized(gpu_topic("put", "put", "Bulk transfers", {"memcpy"}, ways), bulk, 16, 1U << 30U),
      sized(gpu_topic("get", "get", "Bulk transfers", {"memcpy"}, ways), bulk, 16, 1U << 30U),
      sized(gpu_topic("packet", "exchange", "Small messages in packets", {},
                      {"in a kernel", "a kernel each, in a graph"}),
            {1U << 10U, 4U << 10U, 16U << 10U, 64U << 10U, 128U << 10U}, 1U << 10U, 128U << 10U),
      gpu_topic("grid", "barrier", "All blocks of a GPU, or of two, meet", {"cooperative"},
                {"32 blocks of 32", "32 blocks of 256", "132 blocks of 32", "132 blocks of 256",
                 "2 GPUs, 32 blocks of 256", "2 GPUs, 132 blocks of 256"})};
}

}  // namespace muster::bench
