// The tutorial under the checker: `muster check tutorial/04_barrier`. The bodies are those that the
// programs run on a host; here every schedule of them is looked at, on every profile.
#include "01_hello_rank/body.hpp"
#include "02_programming_model/body.hpp"
#include "03_window_buffer/body.hpp"
#include "04_barrier/body.hpp"
#include "05_remote_load_store/body.hpp"
#include "06_put_get/body.hpp"
#include "07_dynamic_rank_count/body.hpp"
#include "08_all_reduce_mesh/body.hpp"
#include "09_two_phase/body.hpp"
#include "10_ring/body.hpp"
#include "11_reveal/body.hpp"
#include "12_broadcast/body.hpp"
#include "13_all_gather/body.hpp"
#include "14_reduce_scatter/body.hpp"
#include "15_all_to_all/body.hpp"
#include "16_composition/body.hpp"
#include "17_handshake/body.hpp"
#include "18_ticket_lock/body.hpp"
#include "19_semaphore/body.hpp"
#include "kernels/all_reduce.hpp"
#include "kernels/peer_sums.hpp"
#include "muster/check.hpp"

namespace {

// A step's outcome is right, or the check says what is not.
template <class Value, class Right>
void judge(muster::model::Team& team, const muster::Result<Value>& value, Right&& right) {
  team.expect(value.has_value(), "the step ends well");
  if (!value) return;
  const muster::Result<void> verdict = right(*value);
  team.expect(verdict.has_value(), "the step's result is the golden value");
}

bool is_first(const muster::model::Team& team) {
  return team.rank() == muster::Rank{0};
}

}  // namespace

MUSTER_CHECK(hello_rank, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 01"}) {
  judge(team, tutorial::hello_rank(team), [&](const auto& heard) {
    return is_first(team) ? tutorial::check_hello(heard, team.size()) : muster::Result<void>();
  });
}

MUSTER_CHECK(programming_model,
             {.ranks = 3, .calls = 1, .lanes = 2, .group = "tutorial", .about = "step 02"}) {
  judge(team, tutorial::programming_model(team, lanes),
        [&](const auto& values) { return tutorial::check_model(values, team.size(), lanes); });
}

MUSTER_CHECK(window_buffer, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 03"}) {
  judge(team, tutorial::window_buffer(team), [&](const auto& output) {
    return tutorial::check_window(output, team.rank().value, team.size());
  });
}

MUSTER_CHECK(barrier, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 04, by hand"}) {
  judge(team, tutorial::barrier_step(team, false), [&](const auto& rows) {
    return is_first(team) ? tutorial::check_arrivals(rows, team.size()) : muster::Result<void>();
  });
}

MUSTER_CHECK(barrier_builtin,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 04, the builtin"}) {
  judge(team, tutorial::barrier_step(team, true), [&](const auto& rows) {
    return is_first(team) ? tutorial::check_arrivals(rows, team.size()) : muster::Result<void>();
  });
}

MUSTER_CHECK(barrier_zero,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 04, cells left zero"}) {
  judge(team, tutorial::row_after_credits(team), [&](const auto& row) {
    return tutorial::check_zeros(row, team.rank().value, team.size());
  });
}

MUSTER_CHECK(remote_load_store, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 05"}) {
  judge(team, tutorial::remote_load_store(team), [&](const auto& result) {
    return tutorial::check_load_store(result, team.rank().value, team.size());
  });
}

MUSTER_CHECK(put_get,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 06, all forms"}) {
  for (const tutorial::Form& form : tutorial::forms) {
    for (const bool pull : {false, true}) {
      const std::uint32_t ranks = team.size();
      const std::uint32_t from = (team.rank().value + (pull ? 1 : ranks - 1)) % ranks;
      judge(team, tutorial::put_get(team, form, pull),
            [&](const auto& seen) { return tutorial::check_put_get(seen, from); });
    }
  }
}

MUSTER_CHECK(dynamic_rank_count,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 07"}) {
  judge(team, tutorial::gather_all(team),
        [&](const auto& table) { return tutorial::check_table(table, team.size()); });
}

MUSTER_CHECK(all_reduce_mesh, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 08"}) {
  judge(team, tutorial::all_reduce_mesh(team), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::sum_of_normals(team.size()));
  });
}

MUSTER_CHECK(two_phase, {.ranks = 2, .calls = 1, .group = "tutorial", .about = "step 09"}) {
  const auto sums = tutorial::all_reduce_two_phase(team);
  const bool divides = tutorial::elements % team.size() == 0;
  team.expect(sums.has_value() == divides, "64 elements that P does not divide are refused");
  if (!divides) return;
  judge(team, sums, [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::sum_of_normals(team.size()));
  });
}

MUSTER_CHECK(ring, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 10"}) {
  judge(team, tutorial::all_reduce_ring(team), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::sum_of_normals(team.size()));
  });
}

MUSTER_CHECK(reveal_mesh, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 11, mesh"}) {
  judge(team, tutorial::all_reduce_reveal(team, "mesh"), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::sum_of_normals(team.size()));
  });
}

MUSTER_CHECK(reveal_ring, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 11, ring"}) {
  judge(team, tutorial::all_reduce_reveal(team, "ring"), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::sum_of_normals(team.size()));
  });
}

MUSTER_CHECK(broadcast, {.ranks = 2, .calls = 1, .group = "tutorial", .about = "step 12, hand"}) {
  judge(team, tutorial::broadcast_step(team, "hand"), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::broadcast_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(broadcast_builtin,
             {.ranks = 2, .calls = 1, .group = "tutorial", .about = "step 12, builtin"}) {
  judge(team, tutorial::broadcast_step(team, "builtin"), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::broadcast_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(all_gather, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 13, hand"}) {
  judge(team, tutorial::all_gather_step(team, "hand"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::all_gather_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(all_gather_builtin,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 13, builtin"}) {
  judge(team, tutorial::all_gather_step(team, "builtin"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::all_gather_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(reduce_scatter,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 14, hand"}) {
  judge(team, tutorial::reduce_scatter_step(team, "hand"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::reduce_scatter_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(reduce_scatter_builtin,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 14, builtin"}) {
  judge(team, tutorial::reduce_scatter_step(team, "builtin"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::reduce_scatter_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(all_to_all, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 15, hand"}) {
  judge(team, tutorial::all_to_all_step(team, "hand"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::all_to_all_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(all_to_all_builtin,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 15, builtin"}) {
  judge(team, tutorial::all_to_all_step(team, "builtin"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::all_to_all_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(composition, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 16, hand"}) {
  judge(team, tutorial::composition_step(team, "hand"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::composition_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(composition_builtin,
             {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 16, builtin"}) {
  judge(team, tutorial::composition_step(team, "builtin"), [&](const auto& seen) {
    return tutorial::check_values(seen,
                                  tutorial::composition_golden(team.rank().value, team.size()));
  });
}

MUSTER_CHECK(handshake, {.ranks = 2, .calls = 1, .group = "tutorial", .about = "step 17, hand"}) {
  judge(team, tutorial::handshake_step(team, "hand"), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::handshake_golden(team.rank().value));
  });
}

MUSTER_CHECK(handshake_builtin,
             {.ranks = 2, .calls = 1, .group = "tutorial", .about = "step 17, builtin"}) {
  judge(team, tutorial::handshake_step(team, "builtin"), [&](const auto& seen) {
    return tutorial::check_values(seen, tutorial::handshake_golden(team.rank().value));
  });
}

// One use by each: how many orders there are grows fast with more.
MUSTER_CHECK(ticket_lock, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 18"}) {
  judge(team, tutorial::ticket_lock_step(team, 1), [&](const auto& seen) {
    return tutorial::check_counted(seen, team.rank().value, team.size(), 1);
  });
}

// And by three of them, whoever else is there: the third one finds no permit.
MUSTER_CHECK(semaphore, {.ranks = 3, .calls = 1, .group = "tutorial", .about = "step 19"}) {
  const std::uint32_t rank = team.rank().value;
  judge(team, tutorial::semaphore_step(team, rank < 3 ? 1 : 0), [&](std::uint32_t sum) {
    return tutorial::check_worked(sum, rank, team.size() < 3 ? team.size() : 3, 1);
  });
}

// Sums of tiles, the last of them ragged; then on one lane fewer, so that the lanes have made
// different numbers of rounds; then on all of them again.
MUSTER_CHECK(all_reduce, {.ranks = 3,
                          .calls = 1,
                          .lanes = 2,
                          .group = "example",
                          .about = "sums of float16, of docs/kernels.md"}) {
  constexpr std::int64_t columns = 2;
  const example::AllReduce<columns> sums(team);
  const auto data = *team.window<muster::float16>({3 * columns + 1}, "data");
  const auto one_call = [&](auto& fabric) -> muster::WaitStatus {
    const auto each_own = [&](auto&& visit) {  // element of the tiles that this lane sums
      for (std::int64_t at = 0; at < data.cols; ++at)
        if (fabric.thread() == 0 && at / columns % fabric.lanes() == fabric.lane().value) visit(at);
    };
    each_own([&](std::int64_t at) {
      fabric.local(data)[at] =
          muster::float16(static_cast<float>(at * fabric.size() + fabric.rank().value));
    });
    fabric.converge();
    const muster::WaitStatus status = sums.sum(fabric, data);
    if (fabric.converge(status) != muster::WaitStatus::ok) return status;
    each_own([&](std::int64_t at) {
      const std::int64_t ranks = fabric.size();
      const std::int64_t sum = at * ranks * ranks + ranks * (ranks - 1) / 2;
      const muster::float16 seen = fabric.local(data)[at];
      expect(fabric, static_cast<float>(seen) == static_cast<float>(sum), "the sum");
    });
    return status;
  };
  for (const std::uint32_t running : {lanes, lanes > 1 ? lanes - 1 : 1, lanes})
    for (std::uint32_t call = 0; call < calls; ++call) (void)team.lanes(running, one_call);
}

namespace {

// A ragged tile at the end; sums twice in a launch, and in the next one on what has become of them.
template <std::uint32_t half>
void sum_peers(muster::model::Team& team, std::uint32_t calls, std::uint32_t lanes) {
  using Half = muster::Threads<half>;
  constexpr std::int64_t columns = 2;
  const example::PeerSums<columns, Half, Half> sums(team);
  const auto from = *team.window<float>({2 * columns + 1}, "from");
  const auto to = *team.window<float>({2 * columns + 1}, "to");
  const auto one_call = [&](auto& fabric) -> muster::WaitStatus {
    const auto each_own = [&](auto&& visit) {  // element of the tiles that this lane sums
      for (std::int64_t at = 0; at < from.cols; ++at)
        if (fabric.thread() == 0 && at / columns % fabric.lanes() == fabric.lane().value) visit(at);
    };
    muster::WaitStatus status = muster::WaitStatus::ok;
    for (std::uint32_t call = 0; call < calls && status == muster::WaitStatus::ok; ++call) {
      each_own([&](std::int64_t at) {
        fabric.local(from)[at] = static_cast<float>(at + fabric.rank().value + call);
      });
      status = sums.sum(fabric, from, to);
      if (status == muster::WaitStatus::ok)
        each_own([&](std::int64_t at) {
          const std::int64_t ranks = fabric.size();
          const float seen = fabric.local(to)[at];
          fabric.expectation(
              seen == static_cast<float>((at + call) * ranks + ranks * (ranks - 1) / 2), "the sum",
              muster::model::Where::current());
        });
    }
    return fabric.converge(status);
  };
  (void)team.lanes(lanes, one_call);
  (void)team.lanes(lanes, one_call);
}

}  // namespace

// Sums by lanes in two parts, of as many threads as there are.
MUSTER_CHECK(peer_sums, {.ranks = 3,
                         .threads = 2,
                         .group = "example",
                         .about = "a lane in parts, of docs/kernels.md"}) {
  std::uint32_t threads = 0;
  (void)team.lane([&](auto& fabric) { threads = fabric.threads(); });
  // A lane of one thread has no two parts.
  team.expect(threads == 1 || threads == 2 || threads == 4,
              "a lane of two parts of 1 or 2 threads");
  if (threads == 2) sum_peers<1>(team, calls, lanes);
  if (threads == 4) sum_peers<2>(team, calls, lanes);
}
