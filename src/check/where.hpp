// Where an operation stands in the source.
#pragma once

#include <source_location>

namespace muster::check::engine {

struct Where {
  Where() = default;
  Where(std::source_location place, std::source_location caller = {})  // NOLINT: it is a place
      : at(place), from(caller) {}

  [[nodiscard]] bool is_called() const { return from.line() > 0; }

  std::source_location at;
  std::source_location from;  // the user's call of the protocol that makes it; line 0: by none
};

}  // namespace muster::check::engine
