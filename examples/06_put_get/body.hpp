// Step 6: put and get. The sender pushes, or the receiver pulls; whole, in chunks, or pipelined.
//
// Each rank owns a matrix. Pushed, everybody ends with the left neighbour's; pulled, with the right
// neighbour's. How it is cut up changes what is in flight, never what arrives.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/transfer.hpp"

namespace tutorial {

inline constexpr std::int64_t put_rows = 10;
inline constexpr std::int64_t put_cols = 9;

struct Form {
  const char* name;
  muster::Chunks chunks;
};

inline constexpr Form forms[] = {
    {"whole", {}},
    {"chunked", {.chunk_rows = 4, .chunk_cols = 5}},  // 3 x 2 chunks, ragged at both ends
    {"pipelined", {.chunk_rows = 4, .chunk_cols = 5, .pipeline = true}},  // two of them at a time
};

[[nodiscard]] constexpr float matrix_value(std::uint32_t rank, std::int64_t index) {
  return static_cast<float>(rank * 1000) + static_cast<float>(index);
}

// Returns the own target, row-major, after one transfer in this form.
template <class Team>
muster::Result<std::vector<float>> put_get(Team& team, const Form& form, bool pull) {
  using namespace muster;
  const auto source = *team.template window<float>({put_rows, put_cols});
  const auto target = *team.template window<float>({put_rows, put_cols});
  const Signals signals = *team.signals(1);
  // Checked here, once: shapes, offsets, chunks. What a lane uses cannot be wrong any more.
  const auto transfer =
      *make_transfer(target, source, Region{{}, {}, put_rows, put_cols}, form.chunks);

  std::vector<float> result;
  const Result<void> ran = team.lane([&](auto& fabric) -> WaitStatus {
    const Rank right = right_of(fabric);
    const Rank left = left_of(fabric);
    for_each_index(fabric, source.size(), [&](std::int64_t i) {
      fabric.local(source)[i] = matrix_value(fabric.rank().value, i);
    });
    fabric.converge();  // the matrix is complete, whoever of the lane's threads wrote it
    const bool speaks = fabric.thread() == 0;

    if (pull) {
      // "My matrix is ready", to the one that will read it; then wait for the right one's.
      if (speaks) fabric.notify(signals[0], left, 1, NotifyOp::set);
    } else {
      // The deposit carries all chunks, so one wait is enough.
      put_signal(fabric, transfer, right, signals[0], 1);
    }
    // One thread waits, and all learn how it ended.
    const WaitStatus waited =
        fabric.converge(speaks ? fabric.wait(signals[0], Compare::ge, 1) : WaitStatus::ok);
    if (waited != WaitStatus::ok) return waited;
    const WaitStatus got = pull ? get(fabric, transfer, right) : fabric.converge(WaitStatus::ok);
    if (got != WaitStatus::ok) return got;
    for (std::int64_t i = 0; i < target.size() && speaks; ++i)
      result.emplace_back(fabric.local(target)[i]);
    return WaitStatus::ok;
  });
  if (!ran) return ran.error();
  // Each of these waits for all ranks, so nobody frees what a neighbour still reads.
  if (auto freed = team.free(signals); !freed) return freed.error();
  if (auto freed = team.free(target); !freed) return freed.error();
  if (auto freed = team.free(source); !freed) return freed.error();
  return result;
}

inline muster::Result<void> check_put_get(const std::vector<float>& seen, std::uint32_t from) {
  for (std::int64_t i = 0; i < put_rows * put_cols; ++i) {
    const float element = seen.at(static_cast<std::size_t>(i));
    if (element != matrix_value(from, i))
      return muster::Error{.code = muster::ErrorCode::mismatch,
                           .what = "element " + std::to_string(i) + " is " +
                                   std::to_string(element) + ", expected " +
                                   std::to_string(matrix_value(from, i))};
  }
  return {};
}

// Requests that cannot be meant, and what is said to each; "" where one was accepted.
template <class Team>
std::vector<std::pair<std::string, std::string>> wrong_requests(Team& team) {
  using namespace muster;
  const auto large = *team.template window<float>({put_rows, put_cols});
  const auto small = *team.template window<float>({4, 4});
  std::vector<std::pair<std::string, std::string>> answers;
  const auto ask = [&](const char* request, const auto& made) {
    answers.emplace_back(request, made ? std::string() : made.error().what);
  };
  const Region square{{}, {}, 4, 4};
  ask("a pipeline without chunks", make_transfer(large, small, square, Chunks{.pipeline = true}));
  ask("a pipeline with one chunk extent",
      make_transfer(large, small, square, Chunks{.chunk_rows = 2, .pipeline = true}));
  ask("a negative chunk", make_transfer(large, small, square, Chunks{.chunk_cols = -1}));
  ask("a dynamic extent without a chunk",
      make_dynamic_transfer(large, small, Region{{}, {}, dynamic, 4}, Chunks{}));
  ask("no rows at all", make_transfer(large, small, Region{{}, {}, 0, 4}));
  ask("a negative offset", make_transfer(large, small, Region{{-1, 0}, {}, 4, 4}));
  ask("more than the source has", make_transfer(large, small, Region{{}, {}, 4, 5}));
  ask("beyond the end of the target", make_transfer(large, small, Region{{7, 0}, {}, 4, 4}));
  ask("two shapes and no region", make_transfer(large, small));
  return answers;
}

}  // namespace tutorial
