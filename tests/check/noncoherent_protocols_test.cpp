// Which of muster's own protocols are right where memory is not coherent, with one thread in a
// lane: docs/checking.md says why the others are not.
#include <set>

#include "check/asking.hpp"

namespace muster::check {
namespace {

struct Wrong {
  std::set<std::string> names;
  std::string words;  // what is said of each
};

const Wrong wrong[] = {
    // They wait without acquiring, and then add to the cell that they have waited on.
    {{"broadcast_credits", "gather_credits", "reduce_credits", "scatter_credits",
      "credit_barrier/exit", "credit_barrier/rendezvous", "grid_barrier/exit",
      "grid_barrier/rendezvous", "system_barrier/exit", "system_barrier/rendezvous"},
     "by what its cache holds of it"},
    // Ranks or lanes write small data side by side.
    {{"example/all_reduce", "tutorial/barrier", "tutorial/barrier_builtin",
      "tutorial/dynamic_rank_count", "tutorial/programming_model", "tutorial/semaphore"},
     "in one line of a cache with"},
};

const Wrong* wrong_with(const std::string& name) {
  for (const Wrong& one : wrong)
    if (one.names.contains(name)) return &one;
  return nullptr;
}

TEST(NoncoherentProtocols, AreRightButForThese) {
  // The tutorial and the examples are not in every build.
  for (const std::string& name : wrong[0].names) EXPECT_NE(find(name), nullptr) << name;
  for (const Entry& entry : registry()) {
    Options options = options_for(entry.protocol.ranks, Profile::noncoherent, 2);
    options.lanes = entry.protocol.lanes;
    const Report report = explore(options, entry.body);
    const Wrong* const why = wrong_with(entry.name);
    if (why == nullptr) {
      EXPECT_TRUE(answered(report)) << entry.name << ": " << told(report);
      continue;
    }
    EXPECT_EQ(report.verdict, Verdict::refuted) << entry.name;
    EXPECT_NE(told(report).find(why->words), std::string::npos)
        << entry.name << ": " << told(report);
  }
}

}  // namespace
}  // namespace muster::check
