// 16_composition: collectives behind each other, by hand or with the builtins.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv,
      {.about = "broadcast, all_reduce and all_gather in one body.",
       .ranks = 4,
       .modes = {"hand", "builtin"}},
      [](muster::Team& team, const std::string& mode) {
        return tutorial::composition_step(team, mode);
      },
      [](std::uint32_t rank, std::uint32_t ranks) {
        return tutorial::composition_golden(rank, ranks);
      });
}
