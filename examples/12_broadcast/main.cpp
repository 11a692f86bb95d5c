// 12_broadcast: rank 0 tells all, by hand or with Broadcast.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv,
      {.about = "What rank 0 has, to every rank.", .ranks = 2, .modes = {"hand", "builtin"}},
      [](muster::Team& team, const std::string& mode) {
        return tutorial::broadcast_step(team, mode);
      },
      [](std::uint32_t rank, std::uint32_t ranks) {
        return tutorial::broadcast_golden(rank, ranks);
      });
}
