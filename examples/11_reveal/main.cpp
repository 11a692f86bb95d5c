// 11_reveal: AllReduce in place of the last three steps.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv,
      {.about = "All ranks sum over all, with AllReduce.", .ranks = 4, .modes = {"mesh", "ring"}},
      [](muster::Team& team, const std::string& mode) {
        return tutorial::all_reduce_reveal(team, mode);
      },
      [](std::uint32_t /*rank*/, std::uint32_t ranks) { return tutorial::sum_of_normals(ranks); });
}
