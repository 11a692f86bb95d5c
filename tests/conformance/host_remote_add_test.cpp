#include "conformance/host_runner.hpp"
#include "conformance/remote_add_bodies.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  return conformance::run_host_cases(conformance::remote_add_cases<Team>(), argc, argv);
}
