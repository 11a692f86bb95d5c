#include "conformance/host_runner.hpp"
#include "conformance/tile_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::tile_cases<Team>(), argc, argv);
}
