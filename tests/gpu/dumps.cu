// A process that crashes dumps its own memory, not its peers' nor the GPUs': what a world maps has
// no place in a core file, which would else be as large as the windows.
#include <cuda_runtime_api.h>

#include <fstream>
#include <sstream>

#include "gpu/support.hpp"
#include "muster/fabric/gpu/bootstrap.hpp"

namespace {

using namespace muster;
using namespace muster::gpu_test;

// The bytes of all mappings that a core file would hold, holes too.
std::uint64_t dumpable_bytes() {
  std::ifstream maps("/proc/self/smaps");
  std::uint64_t sum = 0;
  std::uint64_t bytes = 0;
  bool reachable = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    words >> first >> second;
    if (first.find('-') != std::string::npos && first.back() != ':') {
      reachable = second[0] == 'r' || second[1] == 'w';
    } else if (first == "Size:") {
      bytes = std::stoull(second) << 10U;
    } else if (first == "VmFlags:") {
      const bool left_out = line.find(" dd") != std::string::npos ||  // MADV_DONTDUMP
                            line.find(" io") != std::string::npos ||  // a device's
                            line.find(" pf") != std::string::npos;
      if (reachable && !left_out) sum += bytes;
    }
  }
  return sum;
}

template <class Make>
void expect_small(const char* what, Make make) {
  const std::uint64_t before = dumpable_bytes();
  expect(before > 0, "nothing could be read in /proc/self/smaps");
  const gpu::World world = need(make());
  const std::uint64_t after = dumpable_bytes();
  const auto grown = static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
  std::printf("    %s: a core file would be %.1f MB larger\n", what,
              static_cast<double>(grown) * 1e-6);
  expect(grown < (64 << 20), "%s: a core file would be %lld bytes larger", what,
         static_cast<long long>(grown));
}

void windows_are_not_dumped() {
  for (int device = 0; device < gpu_count(); ++device) {
    (void)cudaSetDevice(device);
    (void)cudaFree(nullptr);  // what CUDA itself maps is there from now on
  }
  for (const auto& devices : placements({2})) {
    const gpu::WorldOptions options{.devices = devices, .bytes = 4ULL << 30U};
    const std::string text = text_of(devices);
    expect_small((text + ", one process").c_str(), [&] { return gpu::World::create(options); });
    const std::vector<gpu::Bootstrap> bootstraps = need(gpu::make_bootstraps(1));
    expect_small((text + ", memory to be shared").c_str(),
                 [&] { return gpu::World::join(options, bootstraps[0]); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run("dumps", argc, argv, {{"windows_are_not_dumped", windows_are_not_dumped}});
}
