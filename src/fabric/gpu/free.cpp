// World::free: memory and cells that the team needs no more.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fabric/gpu/bootstrap_calls.hpp"
#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

enum class Kind : std::uint32_t { window, rows, signals };

// What a call of free() names; exchanged between processes, which must name the same.
struct Piece {
  Kind kind;
  std::uint32_t good;   // 1: this process has it
  std::uint64_t begin;  // bytes into the segment for a window, else the first cell
};

std::string text_of(const Piece& piece) {
  return fmt::format("free of the {} {}",
                     piece.kind == Kind::window ? "window at offset"
                     : piece.kind == Kind::rows ? "rows at cell"
                                                : "signals at cell",
                     piece.begin);
}

Error refuse(const Piece& piece, const char* why) {
  return {ErrorCode::invalid_argument, fmt::format("{}: {}", text_of(piece), why)};
}

constexpr const char* not_there = "this world has none there (freed twice, or another world's)";

// All processes name the same piece, and all have it.
std::optional<Error> agree(const Bootstrap& bootstrap, const Piece& mine,
                           std::optional<Error> local) {
  const std::vector<Piece> all = gather_all(bootstrap, mine);
  if (local) return local;
  for (std::uint32_t process = 0; process < bootstrap.processes(); ++process) {
    const Piece& theirs = all[process];
    if (theirs.kind != mine.kind || theirs.begin != mine.begin)
      return Error{ErrorCode::mismatch,
                   fmt::format("process {} makes the {}, process {} the {}", bootstrap.process,
                               text_of(mine), process, text_of(theirs))};
    if (theirs.good == 0)
      return Error{ErrorCode::mismatch,
                   fmt::format("{}: process {} has none there", text_of(mine), process)};
  }
  return std::nullopt;
}

struct Extent {
  std::uint32_t segment;
  std::uint64_t begin;  // bytes
  std::uint64_t bytes;
};

void wait_for_kernels(const World::State& state) {
  for (const Group& group : state.groups) {
    const OnDevice on(group.device);
    must(cudaDeviceSynchronize(), "waiting for what runs");
  }
}

// On the ranks of this process: what is handed out again is zero.
void clear(const World::State& state, const std::vector<Extent>& extents) {
  for (const Group& group : state.groups) {
    const OnDevice on(group.device);
    for (std::uint32_t i = 0; i < group.ranks; ++i)
      for (const Extent& extent : extents)
        must(cudaMemset(state.segments[extent.segment].bases[group.first_rank + i] + extent.begin,
                        0, extent.bytes),
             "clearing what is freed");
    must(cudaDeviceSynchronize(), "clearing what is freed");
  }
}

// Nobody's kernels run, then everybody's part is zero; only then may it be handed out again.
Result<void> retire(const World::State& state, Piece piece, std::optional<Error> local,
                    const std::vector<Extent>& extents) {
  piece.good = local ? 0 : 1;
  if (state.bootstrap) local = agree(*state.bootstrap, piece, std::move(local));
  if (local) return *local;
  wait_for_kernels(state);
  if (state.bootstrap) meet(*state.bootstrap);
  clear(state, extents);
  if (state.bootstrap) meet(*state.bootstrap);
  return {};
}

Extent cells_at(const World::State& state, std::uint64_t first) {
  return {state.cell_segment, first * cell_bytes,
          state.cells.length_at(first).value_or(0) * cell_bytes};
}

bool same(const Rows& a, const Rows& b) {
  return a.first == b.first && a.first_epoch == b.first_epoch && a.lanes == b.lanes &&
         a.ranks == b.ranks;
}

}  // namespace

Result<void> World::free_window(std::uint32_t segment, std::uint64_t offset, std::uint32_t team) {
  return attempt([&]() -> Result<void> {
    State& state = *state_;
    const Piece piece{Kind::window, 0, offset};
    std::optional<Error> local;
    if (team != state.team)
      local = refuse(piece, "the window is another world's");
    else if (state.memory == nullptr || segment != 0)
      local = refuse(piece, "it lies in adopted memory, which its owner gives back");
    const auto length = state.windows.length_at(offset);
    if (!local && !length) local = refuse(piece, not_there);
    const std::vector<Extent> extents{{0, offset, length.value_or(0)}};
    if (Result<void> done = retire(state, piece, local, extents); !done) return done;
    state.windows.release(offset);
    return {};
  });
}

Result<void> World::free(Rows rows) {
  return attempt([&]() -> Result<void> {
    State& state = *state_;
    const Piece piece{Kind::rows, 0, rows.first.cell};
    const auto known = std::find_if(state.known_rows.begin(), state.known_rows.end(),
                                    [&](const Rows& other) { return same(other, rows); });
    std::optional<Error> local;
    if (known == state.known_rows.end())
      local = refuse(piece, not_there);
    else if (!rows.has_counters())
      local = refuse(piece, "they are pad_rows(), which its owner gives back");
    else if (rows.first.segment != state.cell_segment)
      local = refuse(piece, "they lie in memory that use_for_cells() has replaced");
    const std::vector<Extent> extents{cells_at(state, rows.first.cell),
                                      cells_at(state, rows.first_epoch.cell)};
    if (Result<void> done = retire(state, piece, local, extents); !done) return done;
    state.known_rows.erase(known);
    state.cells.release(rows.first.cell);
    state.cells.release(rows.first_epoch.cell);
    return {};
  });
}

Result<void> World::free(Signals signals) {
  return attempt([&]() -> Result<void> {
    State& state = *state_;
    const Piece piece{Kind::signals, 0, signals.first.cell};
    const auto known = std::find_if(
        state.known_signals.begin(), state.known_signals.end(), [&](const Signals& other) {
          return other.first == signals.first && other.count == signals.count;
        });
    std::optional<Error> local;
    if (known == state.known_signals.end())
      local = refuse(piece, not_there);
    else if (signals.first.segment != state.cell_segment)
      local = refuse(piece, "they lie in memory that use_for_cells() has replaced");
    if (Result<void> done = retire(state, piece, local, {cells_at(state, signals.first.cell)});
        !done)
      return done;
    state.known_signals.erase(known);
    state.cells.release(signals.first.cell);
    return {};
  });
}

}  // namespace muster::gpu
