// What an execution knows, kept by its parts, each of which holds its own invariants: threads and
// their fibers, cells, windows and counters, atomic objects, transfers, the calls that ranks make
// alike, polls, and what is told of it all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "check/call_log.hpp"
#include "check/cells.hpp"
#include "check/events.hpp"
#include "check/fibers.hpp"
#include "check/findings.hpp"
#include "check/groups.hpp"
#include "check/history.hpp"
#include "check/kernels.hpp"
#include "check/objects.hpp"
#include "check/one_order.hpp"
#include "check/patience.hpp"
#include "check/places.hpp"
#include "check/polls.hpp"
#include "check/record.hpp"
#include "check/sc_order.hpp"
#include "check/sensitivity.hpp"
#include "check/site_changes.hpp"
#include "check/step_count.hpp"
#include "check/tasks.hpp"
#include "check/thread.hpp"
#include "check/threads.hpp"
#include "check/trace.hpp"
#include "check/transfer_clocks.hpp"
#include "check/where.hpp"
#include "check/windows.hpp"
#include "muster/check/report.hpp"

namespace muster::check::engine {

class ExecutionState {
 protected:
  ExecutionState(const Options& options, Fibers::Broken broken)
      : options_(options),
        threads_(options_),
        places_(options_.place, options_.ranks, options_.lanes),
        fibers_(threads_, std::move(broken)),
        cells_(options_.ranks),
        windows_(options_.ranks),
        counters_(options_.ranks),
        seats_(threads_.size()),
        weak_(seats_, options_.rules),
        clocks_(options_, threads_.size()),
        patience_(options_),
        steps_(options_, patience_),
        sites_(options_) {
    groups_.reset(threads_.size());
  }
  ~ExecutionState() = default;

  Options options_;

  Threads threads_;
  const Places places_;
  Fibers fibers_;
  Cells cells_;
  Windows windows_;
  Counters counters_;
  std::vector<Seat> seats_;  // by thread
  WeakMemory weak_;
  Objects objects_;
  ScOrder sc_order_;                           // Rules::cpp
  std::vector<Stamp> sc_fences_;               // Rules::ptx: in their order
  std::vector<std::shared_ptr<void>> shared_;  // objects of all ranks
  TransferClocks clocks_;
  DescribedCalls described_;
  SetupCalls setup_calls_;
  Launches launches_;
  std::vector<Kernels> kernels_;  // by rank
  BarrierEntries entries_;
  Polls polls_;
  Tasks tasks_;
  Patience patience_;
  StepCount steps_;
  std::vector<std::byte> scratch_;  // for what must not be touched

  SiteChanges sites_;
  Findings findings_;
  History history_;
  Trace trace_;
  Record record_;
  OneOrder one_order_;  // sc
  std::vector<Taken> taken_;
  std::vector<Cost> costs_;
  Sensitivity sensitivity_;
  Groups groups_;

  static constexpr std::uint32_t objects_segment = ~0U;  // for History: plain data is no window's

  std::uint32_t expired_ = 0;
  std::uint32_t sc_operations_ = 0;  // of atomic objects
  Word unwound_at_ = 0;
  Word unwound_end_ = 0;
  bool sharing_ = false;     // an object of all ranks is being made
  bool impossible_ = false;  // the rules of atomic objects have no such execution
  bool has_atomics_ = false;
  bool aborted_ = false;
  bool halted_ = false;
  bool unexplained_ = false;
  bool inexact_ = false;
  bool has_substance_ = false;
  bool has_parts_ = false;
  bool exact_sc_ = false;
  bool reversed_ = false;
  bool wants_overlap_ = false;  // kernels overlap, for which there are not the threads yet
};

}  // namespace muster::check::engine
