#include "task/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "task/trace_file.hpp"

namespace muster::task {
namespace {

double microseconds(Trace::Clock::time_point time) {
  return std::chrono::duration<double, std::micro>(time.time_since_epoch()).count();
}

// As the inside of a JSON string.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char one : text) {
    const auto code = static_cast<unsigned char>(one);
    if (one == '"' || one == '\\') {
      safe += '\\';
      safe += one;
    } else if (code < 0x20) {
      safe += fmt::format("\\u{:04x}", code);
    } else {
      safe += one;
    }
  }
  return safe;
}

}  // namespace

Trace::Trace(std::string path, std::uint64_t nonce, std::uint32_t job_rank, std::uint32_t lanes)
    : path_(std::move(path)), nonce_(nonce), job_rank_(job_rank), runs_(lanes) {}

void Trace::ran(std::uint32_t lane, const Node& node, std::uint32_t block, Clock::time_point begin,
                Clock::time_point end) {
  runs_[lane].push_back({&node, block, begin, end});
}

void Trace::waited(const Node& node, Clock::time_point begin, const Condition& last,
                   const host::CellWatch::Deposit& deposit, bool well) {
  const Clock::time_point now = Clock::now();
  const std::lock_guard guard(waits_lock_);
  waits_.push_back({&node, begin, now, last.signal.cell, deposit, well});
}

void Trace::add_rows(std::vector<std::string>& events) const {
  events.push_back(fmt::format(
      R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"rank {0}"}}}})", job_rank_));
  for (std::size_t lane = 0; lane < runs_.size(); ++lane) {
    events.push_back(fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"lane {}"}}}})",
        job_rank_, lane, lane));
    for (const Run& run : runs_[lane]) {
      const std::string block =
          run.node->kind() == Kind::spmd ? fmt::format(R"(,"block":{})", run.block) : "";
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"task","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},)"
          R"("args":{{"task":{}{}}}}})",
          quoted(run.node->name()), job_rank_, lane, microseconds(run.begin),
          microseconds(run.end) - microseconds(run.begin), run.node->id().index, block));
    }
  }
}

void Trace::add_waits(std::vector<std::string>& events) const {
  std::uint64_t number = 0;
  for (const Wait& wait : waits_) {
    const std::string common = fmt::format(
        R"("cat":"pending","name":"{}","pid":{},"tid":0,"id":"{}.{}.{}")",
        quoted(wait.node->name()), job_rank_, job_rank_, wait.node->id().graph, number++);
    events.push_back(
        fmt::format(R"({{"ph":"b",{},"ts":{:.3f},"args":{{"task":{},"cell":{},"came":{}}}}})",
                    common, microseconds(wait.begin), wait.node->id().index, wait.cell, wait.well));
    events.push_back(fmt::format(R"({{"ph":"e",{},"ts":{:.3f}}})", common, microseconds(wait.end)));
  }
}

// From a notify to a task that could start by it.
void Trace::add_arrow(std::vector<std::string>& events, const Wait& wait, std::uint32_t lane,
                      Clock::time_point start, std::uint64_t number) const {
  // An arrow binds to what lies around its ends. Whoever notified may have been no task.
  constexpr double notify_takes = 0.2;
  const double when = microseconds(wait.deposit.when);
  events.push_back(fmt::format(
      R"({{"ph":"X","cat":"notify","name":"notify","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},)"
      R"("args":{{"rank":{},"cell":{}}}}})",
      wait.deposit.job_rank, wait.deposit.lane.value, when, notify_takes, job_rank_, wait.cell));
  const std::string common = fmt::format(R"("cat":"release","name":"release","id":"{}.{}.{}")",
                                         job_rank_, wait.node->id().graph, number);
  events.push_back(fmt::format(R"({{"ph":"s",{},"pid":{},"tid":{},"ts":{:.3f}}})", common,
                               wait.deposit.job_rank, wait.deposit.lane.value,
                               when + notify_takes / 2));
  events.push_back(fmt::format(R"({{"ph":"f","bp":"e",{},"pid":{},"tid":{},"ts":{:.3f}}})", common,
                               job_rank_, lane, microseconds(start)));
}

void Trace::add_arrows(std::vector<std::string>& events) const {
  std::unordered_map<const Node*, std::vector<const Wait*>> waits;
  for (const Wait& wait : waits_) {
    const bool known = wait.well && wait.deposit.when > wait.begin;
    if (known) waits[wait.node].push_back(&wait);
  }
  std::uint64_t number = 0;
  for (std::uint32_t lane = 0; lane < runs_.size(); ++lane) {
    for (const Run& run : runs_[lane]) {
      const auto add = [&](const Node& node) {
        const auto found = waits.find(&node);
        if (found == waits.end()) return;
        // Of a coroutine the last one before it went on.
        const Wait* last = nullptr;
        for (const Wait* wait : found->second)
          if (wait->deposit.when <= run.begin) last = wait;
        if (last != nullptr) add_arrow(events, *last, lane, run.begin, number++);
      };
      if (run.node->kind() == Kind::coroutine) add(*run.node);
      for (std::size_t at = 0; at < run.node->dep_count(); ++at) {
        if (run.node->dep(at).kind() == Kind::waiter) add(run.node->dep(at));
      }
    }
  }
}

std::vector<std::string> Trace::events() const {
  std::vector<std::string> all;
  add_rows(all);
  add_waits(all);
  add_arrows(all);
  return all;
}

void Trace::write() const {
  const Result<void> written = append_to_trace(path_, nonce_, events());
  if (!written) fmt::print(stderr, "muster: no trace: {}\n", written.error().what);
}

}  // namespace muster::task
