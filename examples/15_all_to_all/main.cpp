// 15_all_to_all: a row from everybody for everybody, by hand or with AllToAll.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv,
      {.about = "A part of every rank's to every rank.", .ranks = 4, .modes = {"hand", "builtin"}},
      [](muster::Team& team, const std::string& mode) {
        return tutorial::all_to_all_step(team, mode);
      },
      [](std::uint32_t rank, std::uint32_t ranks) {
        return tutorial::all_to_all_golden(rank, ranks);
      });
}
