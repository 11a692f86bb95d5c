// A part of a lane of the model. Included by muster/fabric/model.hpp.
#pragma once

#include <cstdint>

#include "muster/fabric/model/fabric.hpp"
#include "muster/fabric/model/span.hpp"

namespace muster::model {

// Some threads of a lane, with a converge, tiles and transfers of their own; made by one of them.
// A part has no parts.
class Part : public Fabric {
 public:
  template <class P>
  bool in_part(std::uint32_t first) const = delete;
  template <class P>
  Part part(std::uint32_t first, Where where = Where::current()) = delete;

 private:
  friend class Fabric;
  Part(const Fabric& lane, std::uint32_t first, std::uint32_t count, Where where)
      : Fabric(lane, first, count, where) {}
};

template <class P>
Part Fabric::part(std::uint32_t first, Where where) {
  return Part(*this, first, P::count, where);
}

}  // namespace muster::model
