// 08_all_reduce_mesh: all_reduce by hand: everybody reads everything.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv, {.about = "All ranks sum over all, by hand.", .ranks = 4},
      [](muster::Team& team, const std::string& /*mode*/) {
        return tutorial::all_reduce_mesh(team);
      },
      [](std::uint32_t /*rank*/, std::uint32_t ranks) { return tutorial::sum_of_normals(ranks); });
}
