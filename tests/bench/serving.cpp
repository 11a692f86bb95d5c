// A program that measures on request, of contenders that it has made up: for program_test.cpp.
#include <cstdio>
#include <stdexcept>

#include "bench/gpu/serve.hpp"

namespace {

using namespace muster::bench_gpu;

std::vector<Contender> list(const Wanted& wanted) {
  if (wanted.topic == "nothing") throw Unavailable("there is nothing\tto see\nhere");
  std::printf("what a library writes to stdout is no reply\n");
  const auto bytes = static_cast<double>(wanted.bytes);
  return {{"floor", "", "of " + wanted.variant,
           [](std::uint32_t calls) { return static_cast<double>(calls); }},
          {"muster", "", "that fails",
           [](std::uint32_t) -> double { throw std::runtime_error("it is broken"); }},
          {"peer", "other", "of bytes", [bytes](std::uint32_t) { return bytes; }},
          {"peer", "other", "that is away", {}, "it is on holiday"}};
}

}  // namespace

int main() {
  return serve({[] { return std::string("a machine"); }, list});
}
