#include "generator.hpp"

#include <algorithm>

#include "blocks.hpp"

namespace muster::fuzz {
namespace {

struct Shape {
  std::uint32_t ranks, lanes, threads;
};

constexpr std::size_t most_operations = 26;

class Builder {
 public:
  Builder(std::uint64_t seed, Profile profile)
      : random_(seed * 4 + static_cast<std::uint64_t>(profile)) {
    constexpr Shape shapes[] = {{2, 1, 1}, {2, 1, 1}, {3, 1, 1}, {3, 1, 1}, {2, 2, 1},
                                {2, 1, 2}, {1, 2, 1}, {4, 1, 1}, {2, 1, 2}};
    const Shape shape = shapes[random_.below(std::size(shapes))];
    program_.profile = profile;
    program_.ranks = shape.ranks;
    program_.lanes = shape.lanes;
    program_.threads = shape.threads;
    program_.code.resize(program_.strands());
  }

  Program build(bool fetched) {
    const std::uint32_t blocks = 1 + random_.below(fetched ? 3 : 4);
    Blocks parts(program_, random_);
    for (std::uint32_t i = 0; i < blocks && program_.size() < most_operations; ++i) {
      if (fetched && (i == 0 || random_.percent(50)))
        parts.fetched_block();
      else
        parts.block();
    }
    program_.cells = std::max(parts.cells(), 1U);
    program_.elements = std::max(parts.elements(), 1U);
    if (random_.percent(25)) watch(parts);
    if (random_.percent(45)) spoil(program_, random_);
    if (random_.percent(15)) spoil(program_, random_);
    if (program_.profile == Profile::noncoherent && random_.percent(90)) program_.apart = 16;
    if (random_.percent(8)) place();
    return std::move(program_);
  }

 private:
  void place() {
    for (std::uint32_t rank = 0; rank < program_.ranks; ++rank)
      program_.domains.push_back(static_cast<Domain>(random_.below(3)));
  }

  // Reads or tests a cell somewhere: harmless in a correct program, but its outcome may vary.
  void watch(Blocks& parts) {
    const std::uint32_t strand = random_.below(program_.strands());
    auto& list = program_.code[strand];
    const auto at = static_cast<std::ptrdiff_t>(random_.below(list.size() + 1));
    Op op =
        wait(random_.below(program_.cells), Compare::ge, 1, parts.maybe_relaxed(Order::acquire));
    op.kind = random_.percent(50) ? Kind::read : Kind::test;
    list.insert(list.begin() + at, op);
  }

  Random random_;
  Program program_;
};

}  // namespace

Program draw(std::uint64_t seed, Profile profile, bool fetched) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Program program = Builder(seed + (attempt << 40), profile).build(fetched);
    if (program.size() > 0 && program.size() <= most_operations + 14 && well_formed(program))
      return program;
  }
}

}  // namespace muster::fuzz
