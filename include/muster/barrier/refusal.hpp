// What a barrier remembers that must not be called again once one of its calls has failed.
#pragma once

#include "muster/fabric.hpp"

namespace muster {

// A lane that gave up and comes again deposits a second time for a call that others may not have
// made yet. Where a sum, or a mark that is taken back, cannot tell the two apart, another rank
// would pass too early. So such a barrier notes the failure in a counter of the lane, and from then
// on its calls deposit nothing and return `refused`. Then a lane has deposited at most once more
// than it has passed: whoever passes has heard of all.
struct Refusal {
  // Called by all threads of the lane before a converge; the same to all.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static bool noted(F& fabric, Counter note) {
    return fabric.counter(note) != 0;
  }

  // The same for the way to a deposit. A fabric on which a load takes as long as a deposit may
  // know, by has_notes(), that none can have been made, so that no deposit waits for it. On a GPU
  // that is so in launches that were made before the team failed, unless it was made with
  // `.on_expiry = retry`: a lane that has failed deposits nothing more in its launch, and the host
  // says that the team has failed.
  template <Fabric F>
  [[nodiscard]] MUSTER_FN static bool stands(F& fabric, Counter note) {
    if constexpr (requires { fabric.has_notes(); })
      if (!fabric.has_notes()) [[likely]]
        return false;
    return noted(fabric, note);
  }

  // Passes the status of a call on, which all threads know, and notes one that is not `ok`.
  template <Fabric F>
  MUSTER_FN static WaitStatus after(F& fabric, Counter note, WaitStatus status) {
    if (status == WaitStatus::ok) [[likely]]
      return status;
    if (fabric.thread() == 0) fabric.set_counter(note, 1);
    fabric.converge();  // before any thread looks at it again
    return status;
  }
};

}  // namespace muster
