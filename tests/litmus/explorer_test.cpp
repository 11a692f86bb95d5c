// The explorer against the enumerator: on tests that decide a rule, on random ones, and on those
// that others wrote.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "litmus/explore.hpp"
#include "litmus/shared_tests.hpp"
#include "litmus/suite.hpp"
#include "litmus/text.hpp"

namespace muster::litmus {
namespace {

// Whether both halves say that the condition holds; the explorer must have a verdict.
bool both_hold(const std::string& text) {
  const Program program = *parse(text, "made");
  const Exploration explored = explore(program);
  EXPECT_TRUE(explored.decided()) << explored.race << "\n" << text;
  EXPECT_FALSE(has_circle(program)) << text;
  const Verdict verdict = enumerate(program);
  EXPECT_EQ(explored.holds, verdict.holds) << text;
  EXPECT_EQ(explored.executable, verdict.executable) << text;
  return explored.holds && verdict.holds;
}

std::string told(const std::string& store, const std::string& load) {
  return "st.weak x, 1 | " + load + " ;\n" + store + " | ld.weak r1, x ;\n";
}
const std::string old_data = "exists (P1:r0 == 1 /\\ P1:r1 == 0)";

TEST(LitmusExplorer, ReleaseAndAcquireInScope) {
  EXPECT_FALSE(
      both_hold(two_threads(told("st.release.gpu y, 1", "ld.acquire.gpu r0, y"), old_data)));
  EXPECT_TRUE(
      both_hold(two_threads(told("st.release.cta y, 1", "ld.acquire.gpu r0, y"), old_data)));
  EXPECT_TRUE(
      both_hold(two_threads(told("st.relaxed.gpu y, 1", "ld.acquire.gpu r0, y"), old_data)));
  EXPECT_TRUE(
      both_hold(two_threads(told("st.release.gpu y, 1", "ld.relaxed.gpu r0, y"), old_data)));
}

// A fence speaks for later stores, and acquires for earlier loads.
TEST(LitmusExplorer, FencesAreReleasesAndAcquires) {
  const std::string rows =
      "st.weak x, 1 | ld.relaxed.gpu r0, y ;\nfence.acq_rel.gpu | fence.acq_rel.gpu ;\n"
      "st.relaxed.gpu y, 1 | ld.weak r1, x ;\n";
  EXPECT_FALSE(both_hold(two_threads(rows, old_data)));
  EXPECT_TRUE(both_hold(two_threads(rows, old_data, 1, 1)));  // on another gpu
}

TEST(LitmusExplorer, ScFencesForbidStoreBuffering) {
  for (const bool sc : {false, true}) {
    const std::string fence = sc ? "fence.sc.gpu" : "fence.acq_rel.gpu";
    const std::string rows = "st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n" + fence + " | " +
                             fence + " ;\nld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\n";
    EXPECT_EQ(both_hold(two_threads(rows, "exists (P0:r0 == 0 /\\ P1:r0 == 0)")), !sc);
  }
}

// What a read-modify-write replaces goes on being carried; a store hides it.
TEST(LitmusExplorer, ReadModifyWritesCarryOn) {
  for (const bool atomic : {false, true}) {
    const std::string text =
        std::string(
            "PTX made\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 ;\n") +
        "st.weak x, 1 | " + (atomic ? "atom.relaxed.gpu.exch r0, y, 2" : "st.relaxed.gpu y, 2") +
        " | ld.acquire.gpu r0, y ;\nst.release.gpu y, 1 | | ld.weak r1, x ;\nexists (" +
        (atomic ? "P1:r0 == 1 /\\ " : "") + "P2:r0 == 2 /\\ P2:r1 == 0)";
    EXPECT_EQ(both_hold(text), !atomic);
  }
}

// Two read-modify-writes never find the same value; a store may be put behind either.
TEST(LitmusExplorer, AtomsFollowEachOther) {
  const std::string rows =
      "atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 ;\nst.relaxed.gpu x, 7 | ;\n";
  EXPECT_FALSE(both_hold(two_threads(rows, "exists (P0:r0 == 0 /\\ P1:r0 == 0)")));
  EXPECT_TRUE(both_hold(two_threads(rows, "exists (P1:r0 == 7 /\\ x == 8)")));
  EXPECT_FALSE(both_hold(two_threads(rows, "exists (P1:r0 == 1 /\\ x == 2)")));
}

TEST(LitmusExplorer, SaysWhereItHasNoVerdict) {
  const std::string writes = "st.weak x, 1 | st.weak x, 2 ;\n";
  EXPECT_EQ(explore(*parse(two_threads(writes, "exists (x == 1)"), "made")).race,
            "P0: st.weak x, 1 and P1: st.weak x, 2");
  const std::string circle =
      "ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\nst.relaxed.gpu y, 1 | st.relaxed.gpu x, 1 "
      ";\n";
  EXPECT_TRUE(has_circle(*parse(two_threads(circle, "exists (P0:r0 == 1)"), "made")));
}

// ---- random tests

class RandomTest {
 public:
  explicit RandomTest(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    const std::size_t threads = 2 + below(2);
    std::string head = "PTX random\n{ x=0; y=0; ";
    for (std::size_t i = 0; i < threads * 3; ++i)
      head += "P" + std::to_string(i / 3) + ":r" + std::to_string(i % 3) + "=0; ";
    head += "}\n";
    for (std::size_t i = 0; i < threads; ++i)
      head += (i == 0 ? "P" : " | P") + std::to_string(i) + "@cta " + std::to_string(below(2)) +
              ",gpu " + std::to_string(below(4) == 0 ? 1 : 0);
    std::string rows;
    const std::size_t length = threads == 2 ? 3 : 2;
    for (std::size_t row = 0; row < length; ++row) {
      for (std::size_t i = 0; i < threads; ++i) rows += (i == 0 ? "" : " | ") + cell(row);
      rows += " ;\n";
    }
    std::string condition = "exists (x == " + std::to_string(below(3));
    for (std::size_t i = 0; i < 2; ++i)
      condition += " /\\ P" + std::to_string(i) + ":r" + std::to_string(below(length)) +
                   " == " + std::to_string(below(2));
    return head + " ;\n" + rows + condition + ")";
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  std::string one_of(std::initializer_list<const char*> words) {
    return words.begin()[below(words.size())];
  }
  std::string scope() { return one_of({".cta", ".gpu", ".gpu", ".sys"}); }

  std::string cell(std::size_t row) {
    const std::string reg = " r" + std::to_string(row) + ", ";
    const std::string place = one_of({"x", "y"});
    const std::string value = ", " + std::to_string(1 + below(2));
    switch (below(8)) {
      case 0: return "ld.weak" + reg + place;
      case 1: return "ld" + one_of({".relaxed", ".acquire"}) + scope() + reg + place;
      case 2: return "ld.acquire" + scope() + reg + place;
      case 3: return "st.weak " + place + value;
      case 4:
      case 5: return "st" + one_of({".relaxed", ".release"}) + scope() + " " + place + value;
      case 6:
        return "atom" + one_of({".relaxed", ".acquire", ".release", ".acq_rel"}) + scope() +
               one_of({".add", ".exch"}) + reg + place + value;
      default: return "fence" + one_of({".acq_rel", ".sc"}) + scope();
    }
  }

  std::mt19937 random_;
};

TEST(LitmusExplorer, AgreesOnRandomTests) {
  const char* asked = std::getenv("MUSTER_LITMUS_PROGRAMS");
  const std::uint32_t seeds =
      asked == nullptr ? 1000 : static_cast<std::uint32_t>(std::stoul(asked));
  std::size_t decided = 0;
  std::size_t hold = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const std::string text = RandomTest(seed).text();
    const Program program = *parse(text, "random");
    const Exploration explored = explore(program);
    if (!explored.decided() || has_circle(program)) continue;
    ++decided;
    const Verdict verdict = enumerate(program);
    ASSERT_FALSE(verdict.bounded());
    ASSERT_EQ(explored.holds, verdict.holds) << "seed " << seed << "\n" << text;
    hold += explored.holds ? 1 : 0;
  }
  EXPECT_GT(decided, seeds / 3);
  EXPECT_GT(hold, decided / 20);
}

// ---- tests that others wrote

TEST(LitmusExplorer, AgreesWithEveryKnownVerdictThatItReaches) {
  const std::vector<std::filesystem::path> files = shared_tests();
  if (files.empty()) GTEST_SKIP() << "there are no such tests here";
  std::size_t decided = 0;
  for (const std::filesystem::path& file : files) {
    const Program program = *load(file);
    const std::optional<bool> known = *expectation(file);
    const Exploration explored = explore(program);
    if (!known || !explored.decided() || has_circle(program)) continue;
    ++decided;
    EXPECT_EQ(explored.holds, *known) << file;
  }
  EXPECT_GT(decided, 0U);
}

}  // namespace
}  // namespace muster::litmus
