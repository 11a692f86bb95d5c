#include "team/lane_pool.hpp"

#include <unistd.h>

#include <atomic>
#include <deque>
#include <thread>

namespace muster {

struct LanePool::Crew {
  struct Worker {
    std::atomic<std::uint32_t> turn = 0;  // how often it was called
    std::thread thread;
  };

  std::deque<Worker> workers;  // of lane 1 and up; they stay where they are
  const std::function<void(std::uint32_t)>* job = nullptr;  // null: end
  std::atomic<std::uint32_t> running = 0;

  ~Crew();
  void start(std::uint32_t lane);
  void call(Worker& worker);
  void work(Worker& worker, std::uint32_t lane);
};

void LanePool::Crew::start(std::uint32_t lane) {
  Worker& worker = workers.emplace_back();
  try {
    worker.thread = std::thread([this, &worker, lane] { work(worker, lane); });
  } catch (...) {
    workers.pop_back();
    throw;
  }
}

void LanePool::Crew::call(Worker& worker) {
  // Pairs with the acquire in work: the job is written.
  worker.turn.fetch_add(1, std::memory_order_release);
  worker.turn.notify_one();
}

void LanePool::Crew::work(Worker& worker, std::uint32_t lane) {
  for (std::uint32_t turn = 0;; ++turn) {
    worker.turn.wait(turn, std::memory_order_acquire);  // pairs with the release in call
    if (job == nullptr) return;
    (*job)(lane);
    // Pairs with the acquire in run: what the lane did is done.
    if (running.fetch_sub(1, std::memory_order_release) == 1) running.notify_one();
  }
}

LanePool::Crew::~Crew() {
  job = nullptr;
  for (Worker& worker : workers) call(worker);
  for (Worker& worker : workers) worker.thread.join();
}

LanePool::LanePool() : crew_(std::make_unique<Crew>()), process_(getpid()) {}

LanePool::~LanePool() {
  forget_if_forked();
  // exit() in the middle of a lane: it may be this very thread, and the others may never end.
  if (crew_->running.load(std::memory_order_relaxed) != 0) static_cast<void>(crew_.release());
}

void LanePool::forget_if_forked() {
  if (process_ == getpid()) return;
  // Not to be joined, and to whom it belongs is not here.
  static_cast<void>(crew_.release());
  crew_ = std::make_unique<Crew>();
  process_ = getpid();
}

void LanePool::grow(std::uint32_t lanes) {
  forget_if_forked();
  while (this->lanes() < lanes) crew_->start(this->lanes());
}

std::uint32_t LanePool::lanes() const {
  return static_cast<std::uint32_t>(crew_->workers.size()) + 1;
}

void LanePool::run(std::uint32_t lanes, const std::function<void(std::uint32_t)>& job) {
  Crew& crew = *crew_;
  crew.job = &job;
  crew.running.store(lanes - 1, std::memory_order_relaxed);
  for (std::uint32_t lane = 1; lane < lanes; ++lane) crew.call(crew.workers[lane - 1]);
  job(0);
  for (std::uint32_t left = lanes - 1; left != 0;) {
    left = crew.running.load(std::memory_order_acquire);  // pairs with the release in work
    if (left != 0) crew.running.wait(left, std::memory_order_acquire);
  }
}

}  // namespace muster
