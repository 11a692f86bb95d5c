// Random programs against an interpreter that knows interleavings and nothing of the model: each
// end that an interleaving reaches is allowed, however weak the accesses are, and with fence.sc
// between all accesses nothing else is.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "litmus/text.hpp"

namespace muster::litmus {
namespace {

struct Access {
  enum class Kind : std::uint8_t { store, load, add, exchange, cas } kind = Kind::store;
  std::size_t location = 0;  // x or y
  unsigned value = 0;
  unsigned expected = 0;
};

constexpr std::size_t most_accesses = 3;
using Threads = std::vector<std::vector<Access>>;

// Where a program is, and where it ends: the memory, and what each access has read.
struct Place {
  std::array<unsigned, 2> memory{};
  std::vector<std::array<unsigned, most_accesses>> read;
  std::vector<std::size_t> at;
  auto operator<=>(const Place&) const = default;
};

void take_step(const Access& one, Place& place, std::size_t thread) {
  unsigned& word = place.memory[one.location];
  if (one.kind != Access::Kind::store) place.read[thread][place.at[thread]] = word;
  ++place.at[thread];
  switch (one.kind) {
    case Access::Kind::load: break;
    case Access::Kind::add: word += one.value; break;
    case Access::Kind::cas: word = word == one.expected ? one.value : word; break;
    case Access::Kind::store:
    case Access::Kind::exchange: word = one.value; break;
  }
}

void walk(const Threads& threads, const Place& place, std::set<Place>& seen,
          std::set<Place>& ends) {
  if (!seen.insert(place).second) return;
  bool ended = true;
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    if (place.at[thread] == threads[thread].size()) continue;
    ended = false;
    Place next = place;
    take_step(threads[thread][place.at[thread]], next, thread);
    walk(threads, next, seen, ends);
  }
  if (ended) ends.insert(place);
}

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return random_() % end; }

  Threads threads() {
    Threads made(2 + below(2));
    for (auto& accesses : made) {
      accesses.resize(1 + below(made.size() == 2 ? most_accesses : 2));
      for (Access& one : accesses) {
        one.kind = static_cast<Access::Kind>(below(5));
        one.location = below(2);
        one.value = 1 + static_cast<unsigned>(below(2));
        one.expected = static_cast<unsigned>(below(2));
      }
    }
    return made;
  }

 private:
  std::mt19937 random_;
};

std::string written(const Access& one, std::size_t number, const std::string& order) {
  const std::string location = one.location == 0 ? "x" : "y";
  const std::string reg = " r" + std::to_string(number) + ", " + location;
  const std::string value = ", " + std::to_string(one.value);
  const std::string atom = "atom." + (order == "weak" ? "relaxed.sys" : order);
  switch (one.kind) {
    case Access::Kind::store: return "st." + order + " " + location + value;
    case Access::Kind::load: return "ld." + order + reg;
    case Access::Kind::add: return atom + ".add" + reg + value;
    case Access::Kind::exchange: return atom + ".exch" + reg + value;
    case Access::Kind::cas: break;
  }
  return atom + ".cas" + reg + ", " + std::to_string(one.expected) + value;
}

// One row for each access, and between two rows one of fences where `fenced`.
std::string text_of(const Threads& threads, const std::vector<std::string>& orders, bool fenced,
                    Draw& draw) {
  std::string text = "PTX random\n{ x=0; y=0; }\n";
  for (std::size_t i = 0; i < threads.size(); ++i)
    text += (i == 0 ? "P" : " | P") + std::to_string(i) + "@cta 0,gpu " + std::to_string(i);
  text += " ;\n";
  for (std::size_t row = 0; row < most_accesses; ++row) {
    std::string fences;
    std::string cells;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      fences += std::string(i == 0 ? "" : " | ") + "fence.sc.sys";
      cells += i == 0 ? "" : " | ";
      if (row < threads[i].size())
        cells += written(threads[i][row], row, orders[draw.below(orders.size())]);
    }
    if (row > 0 && fenced) text += fences + " ;\n";
    text += cells + " ;\n";
  }
  return text;
}

std::string condition_of(const Threads& threads, const Place& end) {
  std::string text =
      "(x == " + std::to_string(end.memory[0]) + " /\\ y == " + std::to_string(end.memory[1]);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (std::size_t row = 0; row < threads[i].size(); ++row) {
      if (threads[i][row].kind == Access::Kind::store) continue;
      text += " /\\ P" + std::to_string(i) + ":r" + std::to_string(row) +
              " == " + std::to_string(end.read[i][row]);
    }
  }
  return text + ")";
}

TEST(LitmusInterleavings, AreAllowedAndWithFencesAreAll) {
  constexpr std::uint32_t seeds = 300;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Draw draw(seed);
    const Threads threads = draw.threads();
    Place begin;
    begin.read.resize(threads.size());
    begin.at.resize(threads.size());
    std::set<Place> seen;
    std::set<Place> ends;
    walk(threads, begin, seen, ends);

    const std::string weak =
        text_of(threads, {"weak", "relaxed.cta", "relaxed.sys"}, draw.below(2) == 0, draw);
    std::string any;
    for (const Place& end : ends) {
      const std::string one = condition_of(threads, end);
      ASSERT_TRUE(holds(weak + "exists " + one)) << "seed " << seed << "\n" << weak << one;
      any += (any.empty() ? "" : " \\/ ") + one;
    }
    const std::string strong = text_of(threads, {"relaxed.sys"}, true, draw);
    ASSERT_TRUE(holds(strong + "forall (" + any + ")")) << "seed " << seed << "\n" << strong << any;
  }
}

}  // namespace
}  // namespace muster::litmus
