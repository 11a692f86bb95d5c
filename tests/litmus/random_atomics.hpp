// Random programs of a few atomic operations, said in two ways: as a litmus test, and as calls of
// check::atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "litmus/cpp_axioms.hpp"
#include "muster/check.hpp"
#include "muster/check/atomic.hpp"

namespace muster::litmus {

struct AtomicStep {
  enum class Kind : std::uint8_t { load, store, exchange, fetch_add, swap, fence };
  Kind kind = Kind::load;
  Order order = Order::relaxed;
  std::size_t location = 0;
  std::uint64_t value = 0;
  std::uint64_t expected = 0;

  [[nodiscard]] bool finds() const { return kind != Kind::store && kind != Kind::fence; }
};

struct AtomicProgram {
  std::vector<std::vector<AtomicStep>> threads;
};

inline constexpr std::size_t locations_of_random = 2;

// `sc`: some orders are seq_cst; `cpp`: fences that acquire or release alone, which PTX has not.
class RandomAtomics {
 public:
  RandomAtomics(std::uint32_t seed, bool sc, bool cpp) : random_(seed), sc_(sc), cpp_(cpp) {}

  AtomicProgram make() {
    AtomicProgram program;
    const std::size_t threads = 2 + below(3) / 2;
    const std::size_t most = threads == 2 ? 4 : 2;
    for (std::size_t i = 0; i < threads; ++i) {
      program.threads.emplace_back();
      const std::size_t length = most - below(2);
      for (std::size_t at = 0; at < length; ++at) program.threads.back().push_back(step());
    }
    return program;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  Order order_of(AtomicStep::Kind kind) {
    using Kind = AtomicStep::Kind;
    if (sc_ && below(3) == 0) return Order::sc;
    if (kind == Kind::fence && !cpp_) return Order::acq_rel;
    if (kind != Kind::fence && below(3) == 0) return Order::relaxed;
    if (kind == Kind::load) return Order::acquire;
    if (kind == Kind::store) return Order::release;
    constexpr Order all[] = {Order::acquire, Order::release, Order::acq_rel};
    return all[below(3)];
  }

  AtomicStep step() {
    using Kind = AtomicStep::Kind;
    constexpr Kind all[] = {Kind::load,  Kind::load,     Kind::load,      Kind::store, Kind::store,
                            Kind::store, Kind::exchange, Kind::fetch_add, Kind::swap,  Kind::fence};
    AtomicStep made;
    made.kind = all[below(10)];
    made.order = order_of(made.kind);
    made.location = below(locations_of_random);
    made.value = 1 + below(2);
    made.expected = below(2);
    return made;
  }

  std::mt19937 random_;
  bool sc_;
  bool cpp_;
};

// ---- as a litmus program: one register for each step that finds something

inline std::string text_of(const AtomicStep& step, std::size_t reg) {
  using Kind = AtomicStep::Kind;
  constexpr const char* orders[] = {".weak", ".relaxed", ".acquire", ".release", ".acq_rel", ".sc"};
  const std::string order = orders[static_cast<std::size_t>(step.order)];
  const std::string place = step.location == 0 ? "x" : "y";
  const std::string value = ", " + std::to_string(step.value);
  const std::string to = ".sys r" + std::to_string(reg) + ", " + place;
  switch (step.kind) {
    case Kind::load: return "ld" + order + to;
    case Kind::store: return "st" + order + ".sys " + place + value;
    case Kind::exchange:
      return "atom" + order + ".sys.exch r" + std::to_string(reg) + ", " + place + value;
    case Kind::fetch_add:
      return "atom" + order + ".sys.add r" + std::to_string(reg) + ", " + place + value;
    case Kind::swap:
      return "atom" + order + ".sys.cas r" + std::to_string(reg) + ", " + place + ", " +
             std::to_string(step.expected) + value;
    case Kind::fence: break;
  }
  return "fence" + order + ".sys";
}

// seq_cst is a fence.sc before the access, which acquires and releases, as libcu++ has it.
inline std::string ptx_text(const AtomicProgram& program) {
  using Kind = AtomicStep::Kind;
  std::vector<std::vector<std::string>> columns;
  std::string head = "PTX random\n{ x=0; y=0; }\n";
  std::size_t rows = 0;
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    head += (i == 0 ? "P" : " | P") + std::to_string(i) + "@cta " + std::to_string(i) + ",gpu 0";
    columns.emplace_back();
    std::size_t reg = 0;
    for (AtomicStep step : program.threads[i]) {
      const std::size_t mine = step.finds() ? reg++ : 0;
      if (step.order == Order::sc && step.kind != Kind::fence) {
        columns.back().push_back("fence.sc.sys");
        step.order = step.kind == Kind::load    ? Order::acquire
                     : step.kind == Kind::store ? Order::release
                                                : Order::acq_rel;
      }
      columns.back().push_back(text_of(step, mine));
    }
    rows = std::max(rows, columns.back().size());
  }
  std::string text = head + " ;\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += (i == 0 ? "" : " | ") + (row < columns[i].size() ? columns[i][row] : std::string());
    text += " ;\n";
  }
  return text + "exists (x == 0)\n";
}

inline Program cpp_program(const AtomicProgram& program) {
  using Kind = AtomicStep::Kind;
  Program made;
  made.locations = {{"x", 0}, {"y", 0}};
  for (const auto& steps : program.threads) {
    Thread& thread = made.threads.emplace_back();
    for (const AtomicStep& step : steps) {
      Instruction& one = thread.code.emplace_back();
      one.op = step.kind == Kind::load    ? Op::load
               : step.kind == Kind::store ? Op::store
               : step.kind == Kind::fence ? Op::fence
                                          : Op::atomic;
      one.order = step.order;
      one.scope = Scope::sys;
      one.function = step.kind == Kind::fetch_add ? Function::add
                     : step.kind == Kind::swap    ? Function::cas
                                                  : Function::second;
      if (step.kind != Kind::fence) one.location = step.location;
      if (step.kind == Kind::swap) one.operands.push_back({false, 0, step.expected});
      one.operands.push_back({false, 0, step.value});
      one.text = text_of(step, thread.initial.size());
      if (!step.finds()) continue;
      one.target = thread.initial.size();
      thread.initial.push_back(0);
      thread.registers.push_back("r" + std::to_string(one.target));
    }
  }
  return made;
}

// ---- as calls

inline std::memory_order cpp_order(Order order) {
  switch (order) {
    case Order::acquire: return std::memory_order_acquire;
    case Order::release: return std::memory_order_release;
    case Order::acq_rel: return std::memory_order_acq_rel;
    case Order::sc: return std::memory_order_seq_cst;
    default: return std::memory_order_relaxed;
  }
}

struct RandomPlaces {
  check::atomic<std::uint64_t> at[locations_of_random];
};

// Each step of a thread has a place of its own in the source: at one place the same load again
// would be a poll.
inline std::source_location place_of(std::size_t step) {
  using Where = std::source_location;
  static const Where all[] = {Where::current(), Where::current(), Where::current(),
                              Where::current(), Where::current(), Where::current()};
  return all[step];
}

inline std::uint64_t make_step(RandomPlaces& places, const AtomicStep& step, std::size_t number) {
  using Kind = AtomicStep::Kind;
  check::atomic<std::uint64_t>& place = places.at[step.location];
  const std::memory_order order = cpp_order(step.order);
  const std::source_location where = place_of(number);
  switch (step.kind) {
    case Kind::load: return place.load(order, where);
    case Kind::store: place.store(step.value, order, where); return 0;
    case Kind::exchange: return place.exchange(step.value, order, where);
    case Kind::fetch_add: return place.fetch_add(step.value, order, where);
    case Kind::swap: {
      std::uint64_t found = step.expected;
      (void)place.compare_exchange_strong(found, step.value, order, where);
      return found;
    }
    case Kind::fence: check::atomic_thread_fence(order, muster::Scope::system, where); break;
  }
  return 0;
}

inline void run_steps(model::Team& team, const AtomicProgram& program) {
  RandomPlaces& places = check::shared<RandomPlaces>(team);
  (void)team.lane([&](auto& fabric) {
    std::size_t number = 0;
    for (const AtomicStep& step : program.threads[fabric.rank().value]) {
      const std::uint64_t found = make_step(places, step, number++);
      if (step.finds()) fabric.outcome(found);
    }
  });
  (void)team.sync();
  if (team.rank() == Rank{0})
    for (auto& place : places.at) team.outcome(place.load(std::memory_order_relaxed));
}

}  // namespace muster::litmus
