// Random executions, for configurations that the search cannot finish.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check/search.hpp"

namespace muster::check::engine {

// Any read that can be answered goes on, with any of its sets. With `pct`, threads have random
// priorities that change at a few random moments (Burckhardt et al., ASPLOS 2010), so that long
// delays of one thread are likely.
class Random final : public Scheduler {
 public:
  Random(std::uint64_t seed, bool pct) : seed_(seed), pct_(pct) {}

  // Execution number `index` of this seed.
  void aim(std::uint64_t index) { index_ = index; }
  void begin() override;
  Decision pick(Execution& run) override;
  std::uint32_t choose(Execution& run, const std::vector<std::uint32_t>& among,
                       std::uint32_t count) override;
  [[nodiscard]] std::string path() const;

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  void prepare(Execution& run);

  std::uint64_t seed_;
  bool pct_;
  std::uint64_t index_ = 0;
  std::mt19937_64 numbers_;
  std::vector<std::uint64_t> priority_;
  std::uint64_t picks_ = 0;
  std::vector<std::uint64_t> changes_;
  Node::Choice chosen_;
};

}  // namespace muster::check::engine
