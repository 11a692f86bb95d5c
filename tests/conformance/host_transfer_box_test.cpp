#include "conformance/host_runner.hpp"
#include "conformance/transfer_box_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::transfer_box_cases<Team>(), argc, argv);
}
