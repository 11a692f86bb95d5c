#include "fabric/host/cell_watch.hpp"

#include <algorithm>
#include <utility>

#include "fabric/host/futex.hpp"

namespace muster::host {
namespace {

constexpr std::uint64_t bit_of(std::uint32_t group) {
  return 1ULL << (group % 64U);
}

std::int64_t nanoseconds_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

// Why no deposit is missed. The depositor D writes the cell, then reads, by a read-modify-write,
// whether the group is watched; who lists a wait (L) sets that by one, then reads the cell. The two
// have an order: where L's is first, D sees that the group is watched; where D's is first, L's
// acquires what D wrote before, and L sees the deposit. Where D sees that it is watched it sets the
// hint, by another, which the watcher W takes by an exchange. What W takes it has acquired, so that
// it sees the deposit; and W and L look at the cell with the group's lock: if L was first, W finds
// the wait listed, else L has acquired what W had, and sees the deposit itself. A hint that comes
// after the exchange is another one.
void ring(CellBell& bell, std::uint32_t cell, std::uint32_t depositor, Lane lane) {
  const std::uint32_t group = cell % CellBell::groups;
  const std::uint64_t watched = bell.watched[group / 64].fetch_or(0, std::memory_order_acq_rel);
  if ((watched & bit_of(group)) == 0) return;
  if (bell.traced.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    CellBell::Deposit& deposit = bell.deposits[group];
    deposit.who.store(depositor << 16U | (lane.value & 0xffffU), std::memory_order_relaxed);
    deposit.when.store(nanoseconds_of(std::chrono::steady_clock::now()), std::memory_order_relaxed);
  }
  bell.hints[group / 64].fetch_or(bit_of(group), std::memory_order_seq_cst);
  bell.wake_one();
}

// In one order with the read-modify-write and the loads in CellWatch::sleep: either a watcher sees
// the hint before it sleeps, or this sees that it does.
void CellBell::wake_one() {
  if ((sleep.load(std::memory_order_seq_cst) & asleep) == 0) return;
  if ((sleep.fetch_and(~asleep, std::memory_order_seq_cst) & asleep) != 0)
    futex_wake(reinterpret_cast<std::uint32_t&>(sleep), 1);
}

void CellBell::wake_all() {
  sleep.fetch_add(asleep << 1U, std::memory_order_seq_cst);
  futex_wake(reinterpret_cast<std::uint32_t&>(sleep));
}

std::shared_ptr<CellWatch> CellWatch::of(const std::shared_ptr<RankContext>& process) {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  std::shared_ptr<CellWatch> watch = process->cell_watch.lock();
  if (watch == nullptr) {
    watch = std::make_shared<CellWatch>(process);
    process->cell_watch = watch;
  }
  return watch;
}

CellWatch::CellWatch(std::shared_ptr<RankContext> process)
    : process_(std::move(process)),
      record_(process_->job->header().rank_records[process_->job_rank]),
      bell_(process_->job->header().bells[process_->job_rank]) {
  // What an earlier watch has left, maybe in an earlier run: nobody looks at it before arm().
  for (std::atomic<std::uint64_t>& bits : bell_.watched) bits.store(0, std::memory_order_relaxed);
  bell_.traced.store(0, std::memory_order_relaxed);
  threads_[0] = std::thread([this] { run(); });
  try {
    threads_[1] = std::thread([this] { run(); });
  } catch (...) {
    end_threads();
    throw;
  }
}

CellWatch::~CellWatch() {
  end_threads();
  disarm(Clock::time_point::max());
}

void CellWatch::end_threads() {
  ends_.store(true, std::memory_order_seq_cst);
  bell_.wake_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

CellWatch::Deposit CellWatch::last_deposit(std::uint32_t cell) const {
  const CellBell::Deposit& last = bell_.deposits[cell % CellBell::groups];
  const std::uint32_t who = last.who.load(std::memory_order_relaxed);
  const std::chrono::nanoseconds when(last.when.load(std::memory_order_relaxed));
  return {who >> 16U, Lane{who & 0xffffU}, Clock::time_point(when)};
}

void CellWatch::add(TeamContext& team) {
  const std::lock_guard guard(teams_lock_);
  teams_.push_back(&team);
}

void CellWatch::remove(TeamContext& team) {
  const std::lock_guard guard(teams_lock_);
  teams_.erase(std::ranges::find(teams_, &team));
}

// ---- lists --------------------------------------------------------------------------------------

CellWatch::Cell& CellWatch::cell_of(Group& group, const CellWait& wait) {
  const std::uint32_t number = wait.awaited.signal.cell;
  for (Cell& cell : group.cells)
    if (cell.number == number) return cell;
  std::byte* const base =
      wait.team->segments().table()[wait.awaited.signal.segment].cells[wait.team->rank().value];
  auto* const word = reinterpret_cast<std::uint32_t*>(base + std::size_t{number} * cell_stride);
  // In the place of one that nobody waits for any more: a graph may wait for ever other cells.
  const auto empty =
      std::ranges::find_if(group.cells, [](const Cell& c) { return c.entries.empty(); });
  Cell& cell = empty == group.cells.end() ? group.cells.emplace_back() : *empty;
  cell.number = number;
  cell.word = word;
  return cell;
}

// That somebody waits for a cell of the group, before the cell is looked at: see ring.
void CellWatch::announce(std::uint32_t group) {
  bell_.watched[group / 64].fetch_or(bit_of(group), std::memory_order_acq_rel);
}

bool CellWatch::list(CellWait& wait) {
  const std::uint32_t group_number = wait.awaited.signal.cell % CellBell::groups;
  Group& group = groups_[group_number];
  const std::lock_guard guard(group.lock);
  Cell& cell = cell_of(group, wait);
  announce(group_number);
  // Pairs with the release of the deposit.
  const std::uint32_t seen =
      std::atomic_ref<std::uint32_t>(*cell.word).load(std::memory_order_acquire);
  if (satisfies(seen, wait.awaited.compare, wait.awaited.value)) return false;
  wait.at_ = static_cast<std::uint32_t>(cell.entries.size());
  wait.listed_ = true;
  cell.entries.push_back({wait.awaited.value, wait.awaited.compare, &wait});
  ++group.entries;
  return true;
}

void CellWatch::unlist(Group& group, Cell& cell, CellWait& wait) {
  cell.entries[wait.at_] = cell.entries.back();
  cell.entries[wait.at_].wait->at_ = wait.at_;
  cell.entries.pop_back();
  --group.entries;
  wait.listed_ = false;
}

bool CellWatch::add(CellWait& wait) {
  // Counted before it is listed: the watcher may be done with it at once. In one order with the
  // store and the load in disarm: either that sees the count, or this sees that it is not armed.
  pending_.fetch_add(1, std::memory_order_seq_cst);
  if (!armed_.load(std::memory_order_seq_cst)) arm();
  const std::int64_t deadline = nanoseconds_of(wait.deadline);
  std::int64_t next = next_deadline_.load(std::memory_order_relaxed);
  while (deadline < next &&
         !next_deadline_.compare_exchange_weak(next, deadline, std::memory_order_relaxed)) {
  }
  if (list(wait)) return false;
  {
    const std::lock_guard work(work_lock_);  // remove looks at what it waits for
    while (wait.advance()) {
      if (list(wait)) return false;
    }
  }
  pending_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool CellWatch::remove(CellWait& wait) {
  const std::lock_guard work(work_lock_);  // it stays at its cell
  Group& group = group_of(wait.awaited.signal.cell);
  const std::lock_guard guard(group.lock);
  if (!wait.listed_) return false;
  unlist(group, cell_of(group, wait), wait);
  pending_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// ---- deposits tell ------------------------------------------------------------------------------

void CellWatch::arm() {
  const std::lock_guard guard(arm_lock_);
  if (armed_.load(std::memory_order_relaxed)) return;
  idle_since_ = Clock::now();
  record_.sleepers.fetch_or(RankRecord::watched, std::memory_order_relaxed);
  // Pairs with the signal fence in Fabric::wake: from here on every depositor sees that, or its
  // deposit is seen when the wait is listed. Without that barrier deposits may go untold.
  blind_ = !barrier_everywhere();
  armed_.store(true, std::memory_order_seq_cst);
  bell_.wake_all();  // from now on they look after what deposits do not tell of
}

// Where nothing has been waited for in a while: arming has its price, and so have deposits that
// look whether their group is watched.
void CellWatch::disarm(Clock::time_point now) {
  constexpr auto stays_armed = std::chrono::milliseconds(500);
  const std::lock_guard guard(arm_lock_);
  if (!armed_.load(std::memory_order_relaxed) || now - idle_since_ < stays_armed) return;
  armed_.store(false, std::memory_order_seq_cst);
  if (pending_.load(std::memory_order_seq_cst) != 0) {
    armed_.store(true, std::memory_order_seq_cst);  // who saw the other waits for the lock
    return;
  }
  record_.sleepers.fetch_and(~RankRecord::watched, std::memory_order_relaxed);
  for (auto& bits : bell_.watched) bits.store(0, std::memory_order_relaxed);
}

}  // namespace muster::host
