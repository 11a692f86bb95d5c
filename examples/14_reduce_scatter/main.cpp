// 14_reduce_scatter: a part of the sums to each, by hand or with ReduceScatter.
#include "../common/collective_main.hpp"
#include "body.hpp"

int main(int argc, char** argv) {
  return tutorial::collective_main(
      argc, argv,
      {.about = "The sums over all ranks, a part to each.",
       .ranks = 4,
       .modes = {"hand", "builtin"}},
      [](muster::Team& team, const std::string& mode) {
        return tutorial::reduce_scatter_step(team, mode);
      },
      [](std::uint32_t rank, std::uint32_t ranks) {
        return tutorial::reduce_scatter_golden(rank, ranks);
      });
}
