// Which of muster's own protocols are right where memory is not coherent, with one thread in a
// lane: docs/checking.md says why the others are not.
#include <set>

#include "check/asking.hpp"

namespace muster::check {
namespace {

// They wait without acquiring, and then add to the cell that they have waited on.
const std::set<std::string> add_to_what_they_have_not_acquired{
    "broadcast_credits",        "gather_credits",          "reduce_credits",
    "scatter_credits",          "credit_barrier/exit",     "credit_barrier/rendezvous",
    "grid_barrier/exit",        "grid_barrier/rendezvous", "system_barrier/exit",
    "system_barrier/rendezvous"};

TEST(NoncoherentProtocols, AreRightUnlessTheyAddWhereTheyHaveNotAcquired) {
  std::size_t refuted = 0;
  for (const Entry& entry : registry()) {
    Options options = options_for(entry.protocol.ranks, Profile::noncoherent, 2);
    options.lanes = entry.protocol.lanes;
    const Report report = explore(options, entry.body);
    if (!add_to_what_they_have_not_acquired.contains(entry.name)) {
      EXPECT_TRUE(answered(report)) << entry.name << ": " << told(report);
      continue;
    }
    ++refuted;
    EXPECT_EQ(report.verdict, Verdict::refuted) << entry.name;
    EXPECT_NE(told(report).find("by what its cache holds of it"), std::string::npos)
        << entry.name << ": " << told(report);
  }
  EXPECT_EQ(refuted, add_to_what_they_have_not_acquired.size());
}

}  // namespace
}  // namespace muster::check
