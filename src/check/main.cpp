// muster::check_main.
#include "muster/check.hpp"

int main(int argc, char** argv) {
  return muster::check::main(argc, argv);
}
