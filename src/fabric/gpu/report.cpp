// How a launch ended: what kernels have left on the board, in words.
#include "fabric/gpu/report.hpp"

#include <fmt/format.h>

#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/mesh_calls.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

std::optional<std::uint32_t> known(std::uint32_t field) {
  return field == unknown ? std::nullopt : std::optional(field);
}

const char* symbol(std::uint32_t compare) {
  switch (static_cast<Compare>(compare)) {
    case Compare::eq: return "==";
    case Compare::ne: return "!=";
    case Compare::ge: return ">=";
    case Compare::gt: return ">";
    case Compare::le: return "<=";
    case Compare::lt: return "<";
  }
  return "?";
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

ErrorCode code_of(WaitStatus status) {
  switch (status) {
    case WaitStatus::expired: return ErrorCode::expired;
    case WaitStatus::peer_lost: return ErrorCode::peer_lost;
    case WaitStatus::invalid: return ErrorCode::invalid_argument;
    default: return ErrorCode::aborted;
  }
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
  std::string text = fmt::format("{} {}: the signal was never {} {}", who, how,
                                 symbol(record.compare), record.expected);
  if (!state.reason.empty() && status == WaitStatus::aborted)
    text += fmt::format("; aborted: {}", state.reason);
  return text;
}

std::string refused(const World::State& state, const ErrorRecord& record) {
  switch (static_cast<Operation>(record.operation)) {
    case Operation::launch:
      return fmt::format("more lanes run than the {} that rows were made for", state.lanes);
    case Operation::team:
      return fmt::format(
          "the kernel is for at most {} ranks and the team has {}: make its fabric "
          "a gpu::Fabric<..., gpu::Ranks::many>",
          near_ranks, state.ranks);
    case Operation::window: return "a window of another team, or a rank that does not exist";
    case Operation::tile:
      return "a tile outside of its window or of another team's, or a lane of too few threads";
    case Operation::packets: return "packets outside of their slots, or slots of another team";
    case Operation::transfer: return "a transfer outside of its window, or of another team's";
    default: return "a signal or a rank that does not exist";
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
  if (const auto record = state_->board->first_failure()) return error_of(*state_, *record);
  const WaitStatus stop = state_->board->stop();
  if (stop == WaitStatus::ok) return {};
  return Error{code_of(stop), state_->reason.empty() ? "a rank failed" : state_->reason};
}

Result<void> World::sync() {
  return attempt([&]() -> Result<void> {
    for (const Group& group : state_->groups) {
      const OnDevice on(group.device);
      must(cudaStreamSynchronize(group.stream), fmt::format("kernels on GPU {}", group.device));
    }
    return check();
  });
}

void World::abort(std::string_view reason) {
  if (state_->reason.empty()) state_->reason = reason;
  state_->board->set_stop(WaitStatus::aborted);
}

Result<void> World::reset() {
  return attempt([&]() -> Result<void> {
    if (state_->mesh) meet(*state_->mesh);  // nobody's kernels run any more
    for (const Group& group : state_->groups) clear_group(*state_, group);
    if (!state_->mesh || state_->mesh->process == 0) state_->board->clear();
    state_->reason.clear();
    if (state_->mesh) meet(*state_->mesh);  // before anybody's next launch
    return {};
  });
}

}  // namespace muster::gpu
