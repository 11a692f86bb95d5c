// A litmus test of the PTX memory model, as it was read: threads with their place, and a condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::litmus {

// All values are 64-bit words; arithmetic wraps.
using Word = std::uint64_t;

enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
enum class Scope : std::uint8_t { cta, gpu, sys };
enum class Op : std::uint8_t {
  load,
  store,
  atomic,
  fence,
  barrier,
  compute,
  branch,
  jump,
  nothing
};
// What an atomic or an instruction on registers makes of two words; `second` is exch and mov, `cas`
// of atomics alone.
enum class Function : std::uint8_t { second, add, sub, mul, bit_and, bit_or, bit_xor, cas };
// Of signed words.
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

// A register of the thread, by its number there, or a constant.
struct Operand {
  bool is_register = false;
  std::size_t reg = 0;
  Word value = 0;
};

struct Instruction {
  static constexpr std::size_t none = ~std::size_t{0};

  Op op = Op::nothing;
  Order order = Order::weak;
  Scope scope = Scope::cta;
  Function function = Function::second;
  Comparison comparison = Comparison::eq;
  bool arrives = false;         // of barriers: bar.arrive, which waits for nobody
  std::size_t location = none;  // index into Program::locations
  std::size_t target = none;    // the register that is written
  std::vector<Operand> operands;
  std::size_t next = none;  // of branches and jumps: index into Thread::code, or its size
  std::string text;         // as it was written
};

struct Thread {
  std::uint32_t cta = 0;
  std::uint32_t gpu = 0;
  std::vector<std::string> registers;
  std::vector<Word> initial;  // of the registers
  std::vector<Instruction> code;
};

struct Location {
  std::string name;
  Word initial = 0;
};

// A register of a thread, the final value of a location, or a constant.
struct Term {
  enum class Kind : std::uint8_t { reg, location, constant } kind = Kind::constant;
  std::size_t thread = 0;
  std::size_t index = 0;
  Word value = 0;
};

struct Condition {
  enum class Kind : std::uint8_t { compare, all_of, any_of, negation } kind = Kind::all_of;
  Comparison comparison = Comparison::eq;
  Term left{}, right{};
  std::vector<Condition> parts;  // an empty all_of is true
};

// exists: some execution satisfies it; not_exists: none does; forall: each does.
enum class Quantifier : std::uint8_t { exists, not_exists, forall };

struct Program {
  std::string name;
  std::vector<Location> locations;
  std::vector<Thread> threads;
  Quantifier quantifier = Quantifier::exists;
  Condition condition;
};

[[nodiscard]] inline bool compare(Comparison comparison, Word left, Word right) {
  const auto a = static_cast<std::int64_t>(left);
  const auto b = static_cast<std::int64_t>(right);
  switch (comparison) {
    case Comparison::eq: return a == b;
    case Comparison::ne: return a != b;
    case Comparison::lt: return a < b;
    case Comparison::le: return a <= b;
    case Comparison::gt: return a > b;
    case Comparison::ge: break;
  }
  return a >= b;
}

[[nodiscard]] inline Word apply(Function function, Word left, Word right) {
  switch (function) {
    case Function::add: return left + right;
    case Function::sub: return left - right;
    case Function::mul: return left * right;
    case Function::bit_and: return left & right;
    case Function::bit_or: return left | right;
    case Function::bit_xor: return left ^ right;
    case Function::second:
    case Function::cas: break;
  }
  return right;
}

}  // namespace muster::litmus
