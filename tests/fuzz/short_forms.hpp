// Short forms for the programs of the reference interpreter's tests, and what it says of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "reference.hpp"

namespace muster::fuzz {

using Kinds = std::set<Wrong>;

// ---- short forms

inline Op set(std::uint32_t cell, std::uint32_t peer, std::uint32_t value,
              Order order = Order::release) {
  return {.kind = Kind::notify,
          .cell = cell,
          .peer = peer,
          .value = value,
          .op = NotifyOp::set,
          .order = order};
}
inline Op add(std::uint32_t cell, std::uint32_t peer, std::uint32_t value,
              Order order = Order::release) {
  return {.kind = Kind::notify,
          .cell = cell,
          .peer = peer,
          .value = value,
          .op = NotifyOp::add,
          .order = order};
}
inline Op wait(std::uint32_t cell, std::uint32_t value, Order order = Order::acquire,
               Compare compare = Compare::ge) {
  return {.kind = Kind::wait, .cell = cell, .value = value, .compare = compare, .order = order};
}
inline Op read(std::uint32_t cell, Order order = Order::relaxed) {
  return {.kind = Kind::read, .cell = cell, .order = order};
}
inline Op test(std::uint32_t cell, std::uint32_t value, Order order = Order::acquire) {
  return {.kind = Kind::test, .cell = cell, .value = value, .compare = Compare::ge, .order = order};
}
inline Op store(std::uint32_t to, std::uint32_t value) {
  return {.kind = Kind::store, .value = value, .to = to};
}
inline Op load(std::uint32_t from) {
  return {.kind = Kind::load, .from = from};
}
inline Op at_peer(Kind kind, std::uint32_t peer, std::uint32_t to, std::uint32_t from,
                  std::uint32_t value = 0) {
  return {.kind = kind, .peer = peer, .value = value, .to = to, .from = from};
}
inline Op put_signal(std::uint32_t peer, std::uint32_t to, std::uint32_t from, std::uint32_t cell,
                     std::uint32_t value, NotifyOp op) {
  return {.kind = Kind::put_signal,
          .cell = cell,
          .peer = peer,
          .value = value,
          .op = op,
          .to = to,
          .from = from};
}
inline const Op flush{.kind = Kind::flush};
inline const Op converge{.kind = Kind::converge};

inline Program ranks(Profile profile, std::vector<std::vector<Op>> code) {
  Program program;
  program.profile = profile;
  program.ranks = static_cast<std::uint32_t>(code.size());
  program.code = std::move(code);
  return program;
}

// One rank, one lane of several threads.
inline Program threads(Profile profile, std::vector<std::vector<Op>> code) {
  Program program = ranks(profile, std::move(code));
  program.threads = program.ranks;
  program.ranks = 1;
  return program;
}

inline Kinds wrong(const Program& program) {
  const Verdict verdict = interpret(program);
  EXPECT_TRUE(verdict.complete);
  EXPECT_TRUE(!verdict.wrong.empty() || !verdict.outcomes.empty()) << "no execution at all";
  return verdict.wrong;
}

// What all strands logged in the executions without an error.
inline std::set<std::vector<std::uint64_t>> logs(const Program& program) {
  std::set<std::vector<std::uint64_t>> result;
  for (const Outcome& outcome : interpret(program).outcomes) {
    std::vector<std::uint64_t> values;
    std::size_t at = 0;
    for (std::size_t s = 0; s < program.code.size(); ++s) {
      const std::uint64_t length = outcome[at++];
      for (std::uint64_t i = 0; i < length; ++i) values.push_back(outcome[at++]);
      if ((s + 1) % (program.lanes * program.threads) == 0) at += program.elements;
    }
    result.insert(values);
  }
  return result;
}

inline const Kinds none{};
inline const Kinds race{Wrong::race};
inline constexpr Profile all_profiles[] = {Profile::rdma, Profile::direct, Profile::sc};
inline constexpr Profile weak_profiles[] = {Profile::rdma, Profile::direct};

}  // namespace muster::fuzz
