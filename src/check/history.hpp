// Who has touched what in one execution, so that of two accesses it can be told which one belongs
// to a later call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/clock.hpp"
#include "check/where.hpp"
#include "muster/fabric/model.hpp"

namespace muster::check::engine {

class History {
 public:
  // Grains [first, last) of a rank's memory, as a thread touched them.
  struct Touch {
    Stamp stamp;
    std::uint32_t thread = 0;
    std::uint32_t epoch = 0;  // of the thread
    std::uint32_t rank = 0;
    std::uint32_t segment = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    model::Access access = model::Access::read;
    Where where{};
    std::size_t step = 0;  // of the trace, if one is kept
  };
  // An access, and how often its thread had then made it in this place: once for all that it does
  // without meeting or hearing from anybody in between.
  struct Use {
    std::uint32_t times = 0;
    Where where;
    std::size_t step = 0;
  };

  void clear() {
    touches_.clear();
    full_ = false;
  }
  void add(const Touch& touch);
  // The latest access to the grain; the latest one with that stamp. Nothing where it was one too
  // many to keep.
  [[nodiscard]] std::optional<Use> last_use(std::uint64_t grain) const;
  [[nodiscard]] std::optional<Use> use(Stamp stamp, std::uint32_t rank, std::uint32_t segment,
                                       std::uint64_t grain, model::Access access) const;

 private:
  static constexpr std::size_t most = 1'000'000;

  [[nodiscard]] Use counted(std::size_t at, std::uint64_t grain) const;

  std::vector<Touch> touches_;
  bool full_ = false;
};

}  // namespace muster::check::engine
