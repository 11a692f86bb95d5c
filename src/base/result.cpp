#include "muster/result.hpp"

#include <fmt/format.h>

#include <vector>

namespace muster {

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::expired: return "expired";
    case ErrorCode::aborted: return "aborted";
    case ErrorCode::peer_lost: return "peer_lost";
    case ErrorCode::mismatch: return "mismatch";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::system: return "system";
  }
  return "unknown";
}

const char* name_of(WaitStatus status) {
  switch (status) {
    case WaitStatus::ok: return "ok";
    case WaitStatus::pending: return "pending";
    case WaitStatus::refused: return "refused";
    case WaitStatus::expired: return "expired";
    case WaitStatus::aborted: return "aborted";
    case WaitStatus::peer_lost: return "peer_lost";
    case WaitStatus::invalid: return "invalid";
  }
  return "unknown";
}

ErrorCode code_of(WaitStatus status) {
  switch (status) {
    case WaitStatus::refused:
    case WaitStatus::expired: return ErrorCode::expired;
    case WaitStatus::peer_lost: return ErrorCode::peer_lost;
    case WaitStatus::ok:
    case WaitStatus::pending:
    case WaitStatus::aborted: return ErrorCode::aborted;
    case WaitStatus::invalid: break;
  }
  return ErrorCode::invalid_argument;
}

Result<void> result_of(WaitStatus status) {
  const auto error = [&](const char* what) { return Error{code_of(status), what}; };
  switch (status) {
    case WaitStatus::ok: return {};
    case WaitStatus::refused:
      return error(
          "a barrier or exchange was called again after a call of it had failed on this lane; make "
          "a new one");
    case WaitStatus::expired: return error("a wait reached its deadline");
    case WaitStatus::peer_lost: return error("a rank died");
    case WaitStatus::pending:
    case WaitStatus::aborted: return error("the team was aborted");
    case WaitStatus::invalid: break;
  }
  return error("an operation of the fabric was called wrongly");
}

std::string to_string(const Error& error) {
  std::vector<std::string> where;
  if (error.rank) where.push_back(fmt::format("rank {}", error.rank->value));
  if (error.lane) where.push_back(fmt::format("lane {}", error.lane->value));
  if (error.peer) where.push_back(fmt::format("peer {}", error.peer->value));
  if (error.cell) where.push_back(fmt::format("cell {}", *error.cell));
  if (error.seen) where.push_back(fmt::format("seen {}", *error.seen));
  if (error.expected) where.push_back(fmt::format("expected {}", *error.expected));
  const std::string text = fmt::format("{}: {}", name_of(error.code), error.what);
  return where.empty() ? text : fmt::format("{} ({})", text, fmt::join(where, ", "));
}

}  // namespace muster
