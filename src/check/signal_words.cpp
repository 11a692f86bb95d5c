#include "check/signal_words.hpp"

#include <fmt/format.h>

#include "base/compare.hpp"
#include "check/execution.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

const char* word(NotifyOp op) {
  return op == NotifyOp::set ? "set" : "add";
}
namespace {
const char* word(Fetch::Kind kind) {
  switch (kind) {
    case Fetch::Kind::add: return "fetch_add";
    case Fetch::Kind::exchange: return "exchange";
    case Fetch::Kind::compare_swap: return "compare_swap";
  }
  return "?";
}
}  // namespace

const char* word(const Deposit& deposit) {
  return deposit.fetched ? word(*deposit.fetched) : word(deposit.op);
}
const char* word(ReadKind kind, const Fetch& fetch) {
  switch (kind) {
    case ReadKind::wait: return "wait";
    case ReadKind::test: return "test";
    case ReadKind::read: return "read";
    case ReadKind::any: return "wait_any";
    case ReadKind::hand: return "hand";
    case ReadKind::take: return "take";
    case ReadKind::fetch: return word(fetch.kind);
    case ReadKind::atomic: return "atomic operation";
  }
  return "?";
}
// Of a set that was read, those that its reader did not know of: ", from rank 0 (x.cpp:5)".
std::string Execution::deposits_in_words(const Cell& cell, const Bits& set,
                                         const Bits& known) const {
  constexpr std::uint32_t most = 4;
  std::string text;
  std::uint32_t told = 0;
  cell.contained(set).each([&](std::uint32_t at) {
    if (known.has(at) || ++told > most) return;
    const Deposit& deposit = cell.deposits[at];
    text += fmt::format("{} {} of {} ({})", told == 1 ? ", from" : " and", word(deposit),
                        name_of_thread(threads_[deposit.thread]), short_place(deposit.where));
  });
  return told > most ? text + fmt::format(" and {} more", told - most) : text;
}

// "wait rows 0[lane 0, from rank 2] of rank 1 >= 3 acquire"
std::string Execution::read_in_words(const PendingRead& read, const Look& look) const {
  std::string text =
      fmt::format("{} {}", word(read.kind, read.fetch), name_of_cell(cells_[look.cell]));
  const auto operand = static_cast<std::int32_t>(read.fetch.operand);
  if (read.kind == ReadKind::fetch)
    text += read.fetch.kind == Fetch::Kind::compare_swap
                ? fmt::format(" {} to {}", static_cast<std::int32_t>(look.value), operand)
                : fmt::format(" {}", operand);
  else if (read.kind != ReadKind::read)
    text += fmt::format(" {} {}", symbol_of(look.compare), static_cast<std::int32_t>(look.value));
  return text + fmt::format(" {}", word(read.order));
}

}  // namespace muster::check::engine
