// The small changes that make a correct program wrong, or not.
#include <algorithm>
#include <array>

#include "generator.hpp"

namespace muster::fuzz {
namespace {

bool signals(Kind kind) {
  return kind == Kind::notify || kind == Kind::wait || kind == Kind::test || kind == Kind::read ||
         kind == Kind::hand || kind == Kind::take || kind == Kind::put_signal || fetches(kind);
}

// Drops an operation; one that the threads of a lane call together from all of them.
void drop(Program& program, std::size_t strand, std::size_t at) {
  auto& list = program.code[strand];
  const Kind kind = list[at].kind;
  if (!is_collective(kind) || kind == Kind::converge || program.threads == 1) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  const auto common = [](const Op& op) {
    return is_collective(op.kind) && op.kind != Kind::converge;
  };
  const auto nth =
      std::count_if(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(at), common);
  const std::size_t begin = strand - program.thread_of(strand);
  for (std::size_t s = begin; s < begin + program.threads; ++s) {
    auto left = nth;
    auto& other = program.code[s];
    const auto found = std::find_if(other.begin(), other.end(),
                                    [&](const Op& op) { return common(op) && left-- == 0; });
    if (found != other.end()) other.erase(found);
  }
}

void alter(Program& program, Op& op, Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1:
      if (signals(op.kind)) op.order = Order::relaxed;
      break;
    case 2: op.value += random.percent(50) ? 1 : ~0U; break;
    case 3: {
      constexpr std::array all{Compare::eq, Compare::ne, Compare::ge,
                               Compare::gt, Compare::le, Compare::lt};
      op.compare = all[random.below(all.size())];
      break;
    }
    case 4: op.op = op.op == NotifyOp::set ? NotifyOp::add : NotifyOp::set; break;
    case 5:
      if (signals(op.kind)) op.cell = random.below(program.cells);
      if (slotted(op.kind)) op.to = random.below(program.slots);
      break;
    case 6:
      if (op.kind == Kind::notify || fetches(op.kind) || program.threads == 1)
        op.peer = random.below(program.ranks);
      break;
    default:
      if (program.threads > 1) break;
      if (op.kind == Kind::put)
        op.kind = Kind::put_async;
      else if (op.kind == Kind::get)
        op.kind = Kind::get_async;
      else if (op.kind == Kind::wait)
        op.kind = Kind::test;
      else if (fetches(op.kind) && random.percent(50))
        op.kind = op.kind == Kind::exchange ? Kind::fetch_add : Kind::exchange;
      else
        op.when = random.percent(50) ? When::last_nonzero : When::last_zero;
      if (op.kind == Kind::converge) op.when = When::always;
      break;
  }
}

bool may_swap(const Program& program, const Op& a, const Op& b) {
  return program.threads == 1 || !is_collective(a.kind) || !is_collective(b.kind);
}

}  // namespace

void spoil(Program& program, Random& random) {
  if (program.size() == 0) return;
  std::size_t strand = 0;
  do {
    strand = random.below(program.strands());
  } while (program.code[strand].empty());
  auto& list = program.code[strand];
  const std::size_t at = random.below(list.size());
  if (list[at].kind == Kind::boundary) return;
  switch (random.below(5)) {
    case 0: return drop(program, strand, at);
    case 1:
      if (at + 1 < list.size() && may_swap(program, list[at], list[at + 1]))
        std::swap(list[at], list[at + 1]);
      return;
    case 2:
      if (!is_collective(list[at].kind) || program.threads == 1)
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), list[at]);
      return;
    default: return alter(program, list[at], random);
  }
}

namespace {

// Of kernels that overlap: as the contract has them.
bool waits_for_the_last(const Program& program, std::size_t strand) {
  std::uint32_t waits = 0, dones = 0;
  for (const Op& op : program.code[strand]) {
    if (program.kernels > 1 && op.kind == Kind::boundary) return false;
    if (op.kind != Kind::launch_wait && op.kind != Kind::launch_done) continue;
    if (op.when != When::always) return false;
    if (op.kind == Kind::launch_wait && dones > 0) return false;
    if (op.kind == Kind::launch_done && waits == 0 && program.kernel_of(strand) > 0) return false;
    ++(op.kind == Kind::launch_wait ? waits : dones);
  }
  return dones <= 1 && waits <= 1 && (waits == 1 || program.kernel_of(strand) == 0);
}

bool overlaps(const Op& op) {
  return op.to < op.from + op.count && op.from < op.to + op.count;
}

// The threads of a rank run the same number of kernels.
bool same_kernels(const Program& program) {
  const std::size_t per_rank = std::size_t{program.lanes} * program.threads;
  const auto kernels = [](const std::vector<Op>& list) {
    return std::count_if(list.begin(), list.end(),
                         [](const Op& op) { return op.kind == Kind::boundary; });
  };
  for (std::size_t s = 0; s < program.code.size(); ++s) {
    if (kernels(program.code[s]) != kernels(program.code[s / per_rank * per_rank])) return false;
  }
  return true;
}

// The common operations of each thread, in order.
bool same_for_siblings(const Program& program) {
  const auto common = [](const std::vector<Op>& list) {
    std::vector<Op> result;
    for (const Op& op : list) {
      if (is_collective(op.kind) && op.kind != Kind::converge) result.push_back(op);
    }
    return result;
  };
  for (std::size_t s = 0; s < program.code.size(); ++s) {
    const std::size_t first = s - program.thread_of(s);
    if (common(program.code[s]) != common(program.code[first])) return false;
  }
  return true;
}

}  // namespace

bool well_formed(const Program& program) {
  std::vector<bool> flips(std::size_t{program.ranks} * program.cells, false), others = flips;
  for (std::size_t s = 0; s < program.code.size(); ++s) {
    if (!waits_for_the_last(program, s)) return false;
    for (const Op& op : program.code[s]) {
      const bool put =
          op.kind == Kind::put || op.kind == Kind::put_async || op.kind == Kind::put_signal;
      const bool get = op.kind == Kind::get || op.kind == Kind::get_async;
      if ((put || get) && op.peer == program.rank_of(s) && overlaps(op)) return false;
      if (op.kind == Kind::put_signal && program.threads > 1) return false;
      if (op.when != When::always && (op.kind == Kind::converge || program.threads > 1))
        return false;
      if (!signals(op.kind)) continue;
      const bool remote = op.kind == Kind::notify || op.kind == Kind::hand ||
                          op.kind == Kind::put_signal || fetches(op.kind);
      const std::size_t cell =
          std::size_t{remote ? op.peer : program.rank_of(s)} * program.cells + op.cell;
      (op.kind == Kind::hand || op.kind == Kind::take ? flips : others)[cell] = true;
    }
  }
  for (std::size_t c = 0; c < flips.size(); ++c) {
    if (flips[c] && others[c]) return false;
  }
  return same_for_siblings(program) && same_kernels(program);
}

}  // namespace muster::fuzz
