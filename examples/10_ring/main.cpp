// 10_ring: all_reduce by hand, from neighbour to neighbour.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv, {.about = "All ranks sum over all round a ring, by hand.", .ranks = 4},
      [](muster::Team& team, const std::string& /*mode*/) {
        return tutorial::all_reduce_ring(team);
      },
      [](std::uint32_t /*rank*/, std::uint32_t ranks) { return tutorial::sum_of_normals(ranks); });
}
