// How a launch ended: what kernels have left in the failure log, in words.
#include "fabric/gpu/report.hpp"

#include <fmt/format.h>

#include "base/compare.hpp"
#include "fabric/gpu/bootstrap_calls.hpp"
#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

std::optional<std::uint32_t> known(std::uint32_t field) {
  return field == unknown ? std::nullopt : std::optional(field);
}

// The rank whose deposit a cell waits for, where the cell is one of rows.
std::optional<Rank> writer_of(const World::State& state, const ErrorRecord& record) {
  if (record.peer != unknown) return Rank{record.peer};
  if (record.cell == unknown) return std::nullopt;
  for (const Rows& rows : state.known_rows) {
    const std::uint32_t end = rows.first.cell + rows.lanes * rows.ranks;
    if (rows.first.segment == record.segment && record.cell >= rows.first.cell && record.cell < end)
      return Rank{(record.cell - rows.first.cell) % rows.ranks};
  }
  return std::nullopt;
}

std::string waited(const World::State& state, const ErrorRecord& record) {
  const auto status = WaitStatus{record.status};
  const char* const how = status == WaitStatus::expired ? "reached its deadline" : "was ended";
  if (record.operation == static_cast<std::uint32_t>(Operation::packets))
    return fmt::format("wait_packets() {}: not all packets came with the flag {}", how,
                       record.expected);
  const char* const who = record.operation == static_cast<std::uint32_t>(Operation::hand) ? "hand()"
                          : record.operation == static_cast<std::uint32_t>(Operation::take)
                              ? "take()"
                              : "wait()";
  std::string text =
      fmt::format("{} {}: the signal was never {} {}", who, how,
                  symbol_of(Compare{static_cast<std::uint8_t>(record.compare)}), record.expected);
  if (!state.reason.empty() && status == WaitStatus::aborted)
    text += fmt::format("; aborted: {}", state.reason);
  return text;
}

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::notify: return "notify()";
    case Operation::wait: return "wait(), test() or read()";
    case Operation::wait_any: return "wait_any()";
    case Operation::hand: return "hand()";
    case Operation::take: return "take()";
    case Operation::counter: return "counter() or set_counter()";
    case Operation::window: return "local() or address()";
    case Operation::tile: return "load(), store() or add of a tile";
    case Operation::transfer: return "put() or get()";
    case Operation::packets: return "packets";
    case Operation::fetch: return "fetch_add(), exchange() or compare_swap()";
    default: return "a kernel";
  }
}

// The lane's threads are not those that the launch gave the block.
std::string unfit(const ErrorRecord& record) {
  const auto& n = record.number;
  if (n[4] < 1 || n[4] > 15)
    return fmt::format("a lane of whole warps meets at the named barrier {}; there are 1 to 15",
                       n[4]);
  return fmt::format(
      "the fabric's lane is the threads {} to {} of its block, and the launch gave the block {} "
      "(thread {} made the fabric): launch it with as many threads as gpu::Block<N> says; "
      "gpu::Warp and gpu::Warps<N> need all of their warps",
      n[0], n[0] + n[1] - 1, n[2], n[3]);
}

std::string outside(const ErrorRecord& record) {
  const auto& n = record.number;
  switch (static_cast<Operation>(record.operation)) {
    case Operation::transfer:
      return fmt::format("{} elements from {} on, of a window that has {}", n[3], n[1], n[5]);
    case Operation::packets:
      return fmt::format("{} lines from {} on, of slots that have {}", n[3], n[1], n[4] * n[5]);
    default:
      return fmt::format("the box of {} x {} at ({}, {}) of a window of {} x {}", n[2], n[3], n[0],
                         n[1], n[4], n[5]);
  }
}

// What was wrong with an argument, with its numbers.
std::string wrong(const World::State& state, const ErrorRecord& record) {
  const auto& n = record.number;
  switch (static_cast<Cause>(record.cause)) {
    case Cause::too_few:
      return fmt::format(
          "a tile for a lane of {} threads: one of gpu::Block<> wants at least {}, or name the "
          "threads in the type, gpu::Block<{}>",
          n[0], n[1], n[0]);
    case Cause::rank: return fmt::format("rank {}: the team has {}", record.peer, state.ranks);
    case Cause::cell:
      return fmt::format("cell {} of segment {}, which has {} cells", record.cell, record.segment,
                         n[0]);
    case Cause::team:
      return fmt::format("a window of team {:08x}: this one is {:08x}", n[0], state.team);
    case Cause::segment:
      return fmt::format(
          "a window of {} elements of {} bytes at offset {} of segment {}, whose windows lie from "
          "{} to {}",
          n[1], n[2], n[0], record.segment, n[3], n[4]);
    case Cause::box: return outside(record);
    case Cause::overlap:
      return fmt::format("within a rank: {} elements from {} to {} overlap; they must be apart",
                         n[2], n[1], n[0]);
    default: return "an argument that does not exist";
  }
}

std::string refused(const World::State& state, const ErrorRecord& record) {
  const auto& n = record.number;
  switch (static_cast<Cause>(record.cause)) {
    case Cause::lanes:
      return fmt::format("more lanes run, {}, than the {} that the world was made for", n[0],
                         state.lanes);
    case Cause::grid:
      return fmt::format(
          "a grid of {} blocks: they cannot be dealt out evenly to the {} ranks of "
          "the launch",
          n[0], n[1]);
    case Cause::coordinates:
      return fmt::format("a fabric for lane {} of {} of rank {}: the team has {} ranks", n[1], n[2],
                         n[0], state.ranks);
    case Cause::threads: return unfit(record);
    case Cause::ranks:
      return fmt::format(
          "the kernel is for at most {} ranks and the team has {}: make its fabric "
          "a gpu::Fabric<..., gpu::Ranks::many>",
          near_ranks, state.ranks);
    default:
      return fmt::format("{}: {}", name_of(static_cast<Operation>(record.operation)),
                         wrong(state, record));
  }
}

void clear_group(const World::State& state, const Group& group) {
  const OnDevice on(group.device);
  must(cudaDeviceSynchronize(), "waiting for what runs");
  must(cudaMemset(group.claims, 0, state.ranks * sizeof(std::uint32_t)), "clearing claims");
  if (state.memory != nullptr)
    for (std::uint32_t i = 0; i < group.ranks; ++i)
      must(cudaMemset(state.segments[0].bases[group.first_rank + i], 0,
                      state.cells.size() * cell_bytes),
           "clearing signals");
  must(cudaDeviceSynchronize(), "clearing signals");
}

}  // namespace

Error error_of(const World::State& state, const ErrorRecord& record) {
  const auto status = WaitStatus{record.status};
  const std::string what =
      status == WaitStatus::invalid ? refused(state, record) : waited(state, record);
  Error error{code_of(status),
              fmt::format("{} [block {}, thread {}]", what, record.block, record.thread)};
  error.rank = Rank{record.rank};
  error.lane = Lane{record.lane};
  error.peer = writer_of(state, record);
  error.cell = known(record.cell);
  if (record.compare != unknown) {
    error.seen = record.seen;
    error.expected = record.expected;
  }
  return error;
}

Result<void> World::check() const {
  if (const auto record = state_->failure_log->first_failure()) return error_of(*state_, *record);
  const WaitStatus stop = state_->failure_log->stop();
  if (stop == WaitStatus::ok) return {};
  return Error{code_of(stop), state_->reason.empty() ? "a rank failed" : state_->reason};
}

Result<void> World::synchronize() {
  return attempt([&]() -> Result<void> {
    for (const Group& group : state_->groups) {
      const OnDevice on(group.device);
      must(cudaStreamSynchronize(group.stream), fmt::format("kernels on GPU {}", group.device));
    }
    return check();
  });
}

Result<void> World::sync() {
  const Result<void> here = synchronize();
  if (state_->memory == nullptr && size() > 1)
    return Error{ErrorCode::unavailable,
                 "sync: the world is attached to memory of others, so its ranks cannot exchange "
                 "anything; meet by what has shared that memory"};
  return attempt([&]() -> Result<void> {
    if (state_->bootstrap) meet(*state_->bootstrap);
    return here ? check() : here;  // what has failed elsewhere before is known by now
  });
}

void World::abort(std::string_view reason) {
  if (state_->reason.empty()) state_->reason = reason;
  state_->failure_log->set_stop(WaitStatus::aborted);
}

Result<void> World::reset() {
  return attempt([&]() -> Result<void> {
    if (state_->bootstrap) meet(*state_->bootstrap);  // nobody's kernels run any more
    for (const Group& group : state_->groups) clear_group(*state_, group);
    if (!state_->bootstrap || state_->bootstrap->process == 0) state_->failure_log->clear();
    state_->reason.clear();
    if (state_->bootstrap) meet(*state_->bootstrap);  // before anybody's next launch
    return {};
  });
}

}  // namespace muster::gpu
