// A program of the little language as a body over any Fabric.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "muster/fabric.hpp"
#include "program.hpp"

namespace muster::fuzz {

using Word = std::uint32_t;
using Log = std::vector<std::uint32_t>;

// Where the program's cells, elements and counters are.
struct Places {
  Signals signals;
  WindowRef<Word> window;
  std::uint32_t apart = 1;  // from one element to the next
  Rows rows;                // for the lanes' counters
  SentinelSlots slots;
};

// The part of one thread. `fabric` and `log` are its own.
template <class F>
requires HandoffFabric<F> && AtomicFabric<F> && SentinelFabric<F> && LaunchFabric<F>
class Runner {
 public:
  Runner(F& fabric, const Places& places, Log& log) : fabric_(fabric), places_(places), log_(log) {}

  // Runs kernel number `kernel` of the list.
  void run(const std::vector<Op>& list, std::size_t kernel) {
    for (const Op& op : list) {
      if (op.kind == Kind::boundary) {
        if (kernel == 0) return;
        --kernel;
        continue;
      }
      if (kernel != 0) continue;
      const Word last = log_.empty() ? 0 : log_.back();
      if (op.when != When::always && (op.when == When::last_nonzero) != (last != 0)) continue;
      if (!step(op)) return;
    }
  }

 private:
  // False: a wait did not succeed.
  bool step(const Op& op) {
    const Signal cell = places_.signals[op.cell];
    const Rank peer{op.peer};
    switch (op.kind) {
      case Kind::notify:
        fabric_.notify(cell, peer, op.value, op.op, release_part(op.order));
        return true;
      case Kind::wait:
        return fabric_.wait(cell, op.compare, op.value, acquire_part(op.order)) == WaitStatus::ok;
      case Kind::test: {
        const WaitStatus status = fabric_.test(cell, op.compare, op.value, acquire_part(op.order));
        log_.push_back(status == WaitStatus::ok ? 1 : 0);
        return true;
      }
      case Kind::read: log_.push_back(fabric_.read(cell, acquire_part(op.order))); return true;
      case Kind::hand: return fabric_.hand(cell, peer, release_part(op.order)) == WaitStatus::ok;
      case Kind::take: return fabric_.take(cell, acquire_part(op.order)) == WaitStatus::ok;
      case Kind::fetch_add: return found(fabric_.fetch_add(cell, peer, op.value, op.order));
      case Kind::exchange: return found(fabric_.exchange(cell, peer, op.value, op.order));
      case Kind::compare_swap:
        return found(fabric_.compare_swap(cell, peer, op.expected, op.value, op.order));
      case Kind::flush: (void)fabric_.flush(); return true;
      case Kind::flush_peer: (void)fabric_.flush(peer); return true;
      case Kind::complete: (void)fabric_.complete(last_[op.peer]); return true;
      case Kind::converge: fabric_.converge(); return true;
      case Kind::boundary: return true;
      case Kind::launch_wait: fabric_.launch_wait(); return true;
      case Kind::launch_done: fabric_.launch_done(); return true;
      case Kind::put_sentinel:
      case Kind::wait_sentinel:
      case Kind::clear_sentinel: return slot(op, peer);
      default: data(op, peer); return true;
    }
  }

  // A slot is a tile of one element.
  bool slot(const Op& op, Rank peer) {
    auto tile = fabric_.template tile<float, 1, 1>();
    const std::int64_t at = op.to;
    if (op.kind == Kind::put_sentinel) {
      tile.each([&](auto, auto, float& value) { value = static_cast<float>(op.value); });
      fabric_.put_sentinel(places_.slots, peer, at, tile);
      return true;
    }
    if (op.kind == Kind::clear_sentinel)
      return fabric_.clear_sentinel(places_.slots, at, tile), true;
    if (fabric_.wait_sentinel(tile, places_.slots, at) != WaitStatus::ok) return false;
    Word seen = 0;
    tile.each([&](auto, auto, float& value) { seen = static_cast<Word>(value); });
    log_.push_back(seen);
    return true;
  }

  bool found(Fetched fetched) {
    if (fetched.status == WaitStatus::ok) log_.push_back(fetched.value);
    return fetched.status == WaitStatus::ok;
  }

  void data(const Op& op, Rank peer) {
    const WindowRef<Word> window = places_.window;
    const std::uint32_t to = op.to * places_.apart, from = op.from * places_.apart;
    const Counter counter = places_.rows.epoch(fabric_.lane());
    switch (op.kind) {
      case Kind::store: fabric_.local(window)[to] = op.value; break;
      case Kind::load: log_.emplace_back(fabric_.local(window)[from]); break;
      case Kind::read_counter: log_.push_back(fabric_.counter(counter)); break;
      case Kind::write_counter: fabric_.set_counter(counter, op.value); break;
      case Kind::put: fabric_.put(window, peer, to, window, from, op.count); break;
      case Kind::put_async:
        last_[op.peer] = fabric_.put_async(window, peer, to, window, from, op.count);
        break;
      case Kind::get: (void)fabric_.get(window, to, window, peer, from, op.count); break;
      case Kind::get_async:
        last_[op.peer] = fabric_.get_async(window, to, window, peer, from, op.count);
        break;
      case Kind::put_signal:
        fabric_.put_signal(window, peer, to, window, from, op.count, places_.signals[op.cell],
                           op.value, op.op);
        break;
      default: tile(op, peer); break;
    }
  }

  void tile(const Op& op, Rank peer) {
    auto one = fabric_.template tile<Word, 1, 1>();
    if (op.kind == Kind::remote_load) {
      (void)fabric_.remote_load(one, places_.window, peer, Box{0, op.from * places_.apart, 1, 1});
      one.each([&](std::int64_t, std::int64_t, Word& value) { log_.push_back(value); });
      return;
    }
    one.each([&](std::int64_t, std::int64_t, Word& value) { value = op.value; });
    const Box box{0, op.to * places_.apart, 1, 1};
    if (op.kind == Kind::remote_store) fabric_.remote_store(one, places_.window, peer, box);
    if (op.kind == Kind::remote_add) fabric_.remote_add(one, places_.window, peer, box);
  }

  F& fabric_;
  const Places& places_;
  Log& log_;
  std::map<std::uint32_t, typename F::Request> last_;  // by peer
};

// The part of one rank: its lanes, then a look at its window when everybody is done. Calls
// record(value) with what an Outcome of the reference holds for this rank.
template <class Team, class Record>
void run_rank(Team& team, const Program& program, Record&& record) {
  Places places;
  places.signals = *team.signals(program.cells);
  places.window = *team.template window<Word>({program.elements * program.apart});
  places.apart = program.apart;
  places.rows = *team.rows();
  for (std::uint32_t c = 0; c < program.cells; ++c) {
    if ((program.zero_cells >> c & 1) != 0) team.promise_zero(Signals{places.signals[c], 1});
  }
  if (program.slots > 0) places.slots = *team.template window<SentinelLine>({program.slots});
  const std::size_t per_rank = std::size_t{program.lanes} * program.threads;
  std::vector<Log> logs(per_rank * program.kernels);
  const std::size_t first = team.rank().value * per_rank;
  if (program.kernels > 1) {
    const auto lanes = team.overlapping_lanes(
        program.kernels, program.lanes, [&](auto& fabric, std::uint32_t kernel) {
          const std::size_t own = fabric.lane().value * program.threads + fabric.thread();
          const std::size_t strand = std::size_t{kernel} * program.in_kernel() + first + own;
          Runner(fabric, places, logs[kernel * per_rank + own]).run(program.code[strand], 0);
        });
    if (!lanes) return;
  }
  const auto kernels = static_cast<std::size_t>(
      1 + std::count_if(program.code[first].begin(), program.code[first].end(),
                        [](const Op& op) { return op.kind == Kind::boundary; }));
  for (std::size_t kernel = 0; kernel < kernels && program.kernels == 1; ++kernel) {
    const auto lanes = team.lanes(program.lanes, [&](auto& fabric) {
      const std::size_t own = fabric.lane().value * program.threads + fabric.thread();
      Runner(fabric, places, logs[own]).run(program.code[first + own], kernel);
    });
    if (!lanes) return;
  }
  if (!team.sync()) return;
  Log end;
  const auto look = team.lane([&](auto& fabric) {
    if (fabric.thread() != 0) return;
    for (std::uint32_t i = 0; i < program.elements; ++i) {
      end.emplace_back(fabric.local(places.window)[i * program.apart]);
    }
  });
  if (!look) return;
  for (const Log& log : logs) {
    record(log.size());
    for (const Word value : log) record(value);
  }
  for (const Word value : end) record(value);
}

}  // namespace muster::fuzz
