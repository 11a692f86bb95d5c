#include "conformance/barrier_lane_bodies.hpp"
#include "conformance/host_runner.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::barrier_lane_cases<Team>(), argc, argv);
}
