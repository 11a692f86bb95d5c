#include "conformance/host_runner.hpp"
#include "conformance/transfer_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::transfer_cases<Team>(), argc, argv);
}
