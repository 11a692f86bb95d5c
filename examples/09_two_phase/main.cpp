// 09_two_phase: all_reduce by hand: reduce a share, then collect the shares.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv, {.about = "All ranks sum over all in two phases, by hand.", .ranks = 4},
      [](muster::Team& team, const std::string& /*mode*/) {
        return tutorial::all_reduce_two_phase(team);
      },
      [](std::uint32_t /*rank*/, std::uint32_t ranks) { return tutorial::sum_of_normals(ranks); });
}
