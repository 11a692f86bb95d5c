// A World on the machine that stands in for CUDA, for tests of its host side.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gpu/fake_cuda.hpp"
#include "muster/fabric/gpu/world.hpp"

namespace muster::gpu_test {

inline gpu::World make_world(std::vector<int> devices = {0, 1}, std::uint64_t bytes = 1U << 16U,
                             std::uint32_t cells = 1024) {
  fake_machine() = {};
  return gpu::World::create(
             {.devices = std::move(devices), .lanes = 2, .bytes = bytes, .cells = cells})
      .value();
}

inline void expect_refused(const Result<void>& result, const std::string& words,
                           ErrorCode code = ErrorCode::invalid_argument) {
  ASSERT_FALSE(result.has_value()) << "no error that says: " << words;
  EXPECT_EQ(result.error().code, code);
  EXPECT_NE(result.error().what.find(words), std::string::npos) << result.error().what;
}

// Two processes, each with a rank.
template <class Body>
void in_two_processes(Body body) {
  std::vector<gpu::Bootstrap> bootstraps = gpu::make_bootstraps(2).value();
  pid_t children[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    children[i] = fork();
    if (children[i] != 0) continue;
    gpu::close_bootstrap(bootstraps[1 - i]);
    fake_machine() = {};
    gpu::World world =
        gpu::World::join(
            {.devices = {static_cast<int>(i)}, .lanes = 2, .bytes = 1U << 16U, .cells = 1024},
            bootstraps[i])
            .value();
    body(world, i);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  for (gpu::Bootstrap& bootstrap : bootstraps) gpu::close_bootstrap(bootstrap);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

}  // namespace muster::gpu_test
