// What a protocol's author holds to be true at one place, said in the protocol itself: the checker
// holds it to that, and on every other fabric it is nothing. So the text that is checked is the
// text that ships.
#pragma once

#include <source_location>

#include "muster/fabric.hpp"

namespace muster {

namespace detail {
// The model alone listens.
template <class F>
concept Listens = requires(F& fabric, const char* what, std::source_location where) {
  fabric.expectation(true, what, where);
};
}  // namespace detail

// `holds` must be true here, for this thread of this lane: in the checker a finding of kind
// `expect` that says `what` where it is not. It orders nothing and returns nothing.
template <class F>
requires detail::Listens<F>
void expect(F& fabric, bool holds, const char* what = "expectation",
            std::source_location where = std::source_location::current()) {
  fabric.expectation(holds, what, where);
}

template <class F>
requires(!detail::Listens<F>) MUSTER_FN
    void expect(F& /*fabric*/, bool /*holds*/, const char* /*what*/ = "") {}

}  // namespace muster
