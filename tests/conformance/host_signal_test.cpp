#include "conformance/host_runner.hpp"
#include "conformance/signal_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::signal_cases<Team>(), argc, argv);
}
