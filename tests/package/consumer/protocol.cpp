// A user's protocol, compiled with the headers alone.
#include "muster/barrier/epoch.hpp"

namespace {

template <muster::Fabric F>
muster::WaitStatus twice(F& fabric, muster::EpochBarrier barrier) {
  return muster::worst(barrier.sync(fabric), barrier.sync(fabric));
}

}  // namespace

static_assert(muster::satisfies(1, muster::Compare::ge, 0xffffffffU), "epochs are wrap-safe");
