#include "conformance/host_runner.hpp"
#include "conformance/packet_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::packet_cases<Team>(), argc, argv);
}
