// 13_all_gather: everybody's row to everybody, by hand or with AllGather.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv,
      {.about = "What every rank has, to every rank.", .ranks = 4, .modes = {"hand", "builtin"}},
      [](muster::Team& team, const std::string& mode) {
        return tutorial::all_gather_step(team, mode);
      },
      [](std::uint32_t rank, std::uint32_t ranks) {
        return tutorial::all_gather_golden(rank, ranks);
      });
}
