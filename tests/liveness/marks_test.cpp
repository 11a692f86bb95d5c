// A rank's mark, and the lock that stands on it.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <future>
#include <thread>

#include "fabric/host/header_lock.hpp"
#include "fabric/host/liveness.hpp"

namespace muster::host {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<const Job> new_job() {
  Result<Job> made = create_job({.ranks = 4});
  EXPECT_TRUE(made) << made.error().what;
  return std::make_shared<const Job>(std::move(*made));
}

// Rank 1 lives in a thread for as long as this does.
class LivingRank {
 public:
  explicit LivingRank(const std::shared_ptr<const Job>& job)
      : thread_([this, job] {
          Result<LifeMark> mark = LifeMark::take(job, 1);
          EXPECT_TRUE(mark);
          holds_.set_value();
          ends_.get_future().wait();
        }) {
    holds_.get_future().wait();
  }
  ~LivingRank() {
    ends_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> holds_;
  std::promise<void> ends_;
  std::thread thread_;
};

// In a process of its own, which ends with the mark.
void let_rank_1_die(const std::shared_ptr<const Job>& job) {
  const pid_t child = fork();
  if (child == 0) {
    const Result<LifeMark> mark = LifeMark::take(job, 1);
    _exit(mark ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

TEST(Marks, WhoNeverCameOrGaveItBackIsNotLost) {
  const auto job = new_job();
  EXPECT_FALSE(is_lost(job->header(), 1));
  {
    const LivingRank rank(job);
    EXPECT_FALSE(is_lost(job->header(), 1));
  }
  EXPECT_FALSE(is_lost(job->header(), 1));
}

TEST(Marks, AProcessThatEndsWithItIsLostUnlessItHasLeft) {
  const auto job = new_job();
  let_rank_1_die(job);
  EXPECT_TRUE(is_lost(job->header(), 1));
  EXPECT_TRUE(is_gone(job->header(), 1));
  job->header().rank_records[1].state = RankState::left;
  EXPECT_FALSE(is_lost(job->header(), 1));
}

TEST(Marks, TheNextProcessOfTheRankTakesItOver) {
  const auto job = new_job();
  let_rank_1_die(job);
  const LivingRank next(job);
  EXPECT_FALSE(is_lost(job->header(), 1));
}

TEST(Marks, OfARankThatLivesIsNotGivenTwice) {
  const auto job = new_job();
  const LivingRank first(job);
  const Result<LifeMark> second = LifeMark::take(job, 1);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("rank 1 is taken: another process"), std::string::npos)
      << second.error().what;
}

TEST(Marks, AForkedChildDoesNotTakeItAlong) {
  const auto job = new_job();
  Result<LifeMark> mark = LifeMark::take(job, 1);
  ASSERT_TRUE(mark);
  const pid_t child = fork();
  if (child == 0) {
    mark->release();  // as a child does that returns from main
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_lost(job->header(), 1));
}

// As a filter of a container may do, and an emulator does.
bool forbid_robust_lists() {
  std::array<sock_filter, 4> rules{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_get_robust_list, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{rules.size(), rules.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Marks, AKernelThatDoesNotShowAnEndIsNamed) {
  const auto job = new_job();
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_robust_lists()) _exit(2);
    const Result<LifeMark> mark = LifeMark::take(job, 1);
    _exit(!mark && mark.error().what.find("no robust futexes") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no filter can be set here";
  EXPECT_EQ(status, 0);
}

TEST(HeaderLock, OfADeadHolderIsTakenOver) {
  const auto job = new_job();
  job->header().lock = 1 + 1;  // rank 1
  let_rank_1_die(job);
  const HeaderLock lock(job->header(), 0, milliseconds(5000));
  EXPECT_TRUE(lock.is_held());
}

TEST(HeaderLock, OfALivingHolderIsWaitedForUntilTheDeadline) {
  const auto job = new_job();
  const LivingRank holder(job);
  job->header().lock = 1 + 1;
  const HeaderLock lock(job->header(), 0, milliseconds(100));
  ASSERT_FALSE(lock.is_held());
  EXPECT_EQ(lock.refusal().code, ErrorCode::expired);
  EXPECT_EQ(lock.refusal().peer, Rank{1});
  EXPECT_NE(lock.refusal().what.find("rank 1 lives and has held the job's lock for 100 ms"),
            std::string::npos)
      << lock.refusal().what;
}

}  // namespace
}  // namespace muster::host
