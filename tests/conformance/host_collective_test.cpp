#include "conformance/host_runner.hpp"
#include "conformance/collective_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::collective_cases<Team>(), argc, argv);
}
