#include "program.hpp"

#include <fmt/format.h>

namespace muster::fuzz {
namespace {

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"notify",         "wait",        "test",         "read",
                                   "hand",           "take",        "fetch_add",    "exchange",
                                   "compare_swap",   "store",       "load",         "remote_store",
                                   "remote_load",    "remote_add",  "put",          "get",
                                   "put_async",      "get_async",   "put_signal",   "flush",
                                   "flush_peer",     "complete",    "converge",     "read_counter",
                                   "write_counter",  "boundary",    "put_sentinel", "wait_sentinel",
                                   "clear_sentinel", "launch_wait", "launch_done"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(Compare compare) {
  constexpr const char* names[] = {"eq", "ne", "ge", "gt", "le", "lt"};
  return names[static_cast<std::size_t>(compare)];
}

const char* name_of(Order order) {
  constexpr const char* names[] = {"relaxed", "acquire", "release", "acq_rel"};
  return names[static_cast<std::size_t>(order)];
}

const char* name_of(NotifyOp op) {
  return op == NotifyOp::set ? "set" : "add";
}

std::string arguments(const Op& op) {
  const auto value = static_cast<std::int32_t>(op.value);
  switch (op.kind) {
    case Kind::notify:
      return fmt::format("c{} of {} {} {} {}", op.cell, op.peer, name_of(op.op), value,
                         name_of(release_part(op.order)));
    case Kind::wait:
    case Kind::test:
      return fmt::format("c{} {} {} {}", op.cell, name_of(op.compare), value,
                         name_of(acquire_part(op.order)));
    case Kind::read: return fmt::format("c{} {}", op.cell, name_of(acquire_part(op.order)));
    case Kind::hand:
      return fmt::format("c{} of {} {}", op.cell, op.peer, name_of(release_part(op.order)));
    case Kind::take: return fmt::format("c{} {}", op.cell, name_of(acquire_part(op.order)));
    case Kind::fetch_add:
    case Kind::exchange:
      return fmt::format("c{} of {} {} {}", op.cell, op.peer, value, name_of(op.order));
    case Kind::compare_swap:
      return fmt::format("c{} of {} {} to {} {}", op.cell, op.peer,
                         static_cast<std::int32_t>(op.expected), value, name_of(op.order));
    case Kind::store: return fmt::format("[{}] = {}", op.to, value);
    case Kind::load: return fmt::format("[{}]", op.from);
    case Kind::remote_store: return fmt::format("[{}] of {} = {}", op.to, op.peer, value);
    case Kind::remote_load: return fmt::format("[{}] of {}", op.from, op.peer);
    case Kind::remote_add: return fmt::format("[{}] of {} += {}", op.to, op.peer, value);
    case Kind::put:
    case Kind::put_async:
      return fmt::format("[{}] of {} <- [{}] x {}", op.to, op.peer, op.from, op.count);
    case Kind::get:
    case Kind::get_async:
      return fmt::format("[{}] <- [{}] of {} x {}", op.to, op.from, op.peer, op.count);
    case Kind::put_signal:
      return fmt::format("[{}] of {} <- [{}] x {}, c{} {} {}", op.to, op.peer, op.from, op.count,
                         op.cell, name_of(op.op), value);
    case Kind::put_sentinel: return fmt::format("s{} of {} = {}", op.to, op.peer, value);
    case Kind::wait_sentinel:
    case Kind::clear_sentinel: return fmt::format("s{}", op.to);
    case Kind::write_counter: return fmt::format("= {}", value);
    case Kind::flush_peer:
    case Kind::complete: return fmt::format("of {}", op.peer);
    case Kind::flush:
    case Kind::converge:
    case Kind::boundary:
    case Kind::launch_wait:
    case Kind::launch_done:
    case Kind::read_counter: return "";
  }
  return "";
}

}  // namespace

bool is_collective(Kind kind) {
  switch (kind) {
    case Kind::remote_store:
    case Kind::remote_load:
    case Kind::remote_add:
    case Kind::put:
    case Kind::get:
    case Kind::put_async:
    case Kind::get_async:
    case Kind::put_signal:
    case Kind::flush:
    case Kind::flush_peer:
    case Kind::complete:
    case Kind::converge: return true;
    default: return false;
  }
}

std::string to_string(const Op& op) {
  constexpr const char* when[] = {"", "if last: ", "if not last: "};
  return fmt::format("{}{} {}", when[static_cast<std::size_t>(op.when)], name_of(op.kind),
                     arguments(op));
}

std::string to_string(const Program& program) {
  constexpr const char* profiles[] = {"rdma", "direct", "sc", "noncoherent"};
  std::string text =
      fmt::format("profile {}, {} ranks x {} lanes x {} threads, {} cells, {} elements",
                  profiles[static_cast<std::size_t>(program.profile)], program.ranks, program.lanes,
                  program.threads, program.cells, program.elements);
  if (program.zero_cells != 0)
    text += fmt::format(", cells zero at exit: {:#x}", program.zero_cells);
  if (program.apart > 1) text += fmt::format(", each {} apart", program.apart);
  constexpr const char* domains[] = {"host", "gpu", "nic"};
  for (const Domain domain : program.domains)
    text += fmt::format(", {}", domains[static_cast<std::size_t>(domain)]);
  text += '\n';
  for (std::size_t strand = 0; strand < program.code.size(); ++strand) {
    text += fmt::format(
        "rank {} lane {} thread {}{}:\n", program.rank_of(strand),
        program.lane_of(strand) % program.lanes, program.thread_of(strand),
        program.kernels > 1 ? fmt::format(" in kernel {}", program.kernel_of(strand) + 1) : "");
    for (const Op& op : program.code[strand]) text += "    " + to_string(op) + '\n';
  }
  return text;
}

}  // namespace muster::fuzz
