#include "conformance/host_runner.hpp"
#include "conformance/reduce_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::reduce_cases<Team>(), argc, argv);
}
