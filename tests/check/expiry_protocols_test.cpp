// Every builtin protocol after a wait that has expired, and going on: the check holds, or the next
// call is refused, as the docstrings say.
#include <algorithm>
#include <tuple>

#include "check/asking.hpp"

namespace muster::check {
namespace {

// What is not asked here: who gives up waiting does not take back, so a promise that cells end at
// zero is none then (credit and flip barriers go on in expiry_test.cpp, without the promise);
// bodies whose ranks would make different calls from then on; programs that expect to end well;
// send_receive, which has no end in time: a sender looks for a refusal in each message. (Where one
// sends first it has, but a long one: on direct alone.)
bool goes_on(const std::string& name) {
  const bool promises = name.starts_with("credit_barrier") || name.starts_with("flip_barrier") ||
                        name.ends_with("_credits") || name == "handoff";
  const bool program = name.starts_with("tutorial/") || name.starts_with("example/");
  return !promises && !program && name != "all_to_all_v/refused" && name != "send_receive";
}

class AfterExpiry : public testing::TestWithParam<std::tuple<std::string, std::uint32_t>> {};

TEST_P(AfterExpiry, AreComplete) {
  const auto& [name, expire] = GetParam();
  const Entry& entry = *find(name);
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc}) {
    if (profile < entry.protocol.weakest) continue;
    if (name.starts_with("send_receive") && profile != Profile::direct) continue;
    Options options = options_for(3, profile, 2);
    options.expire = expire;
    const Report report = explore(options, entry.body);
    EXPECT_TRUE(answered(report)) << name_of(profile) << ": " << told(report);
  }
}

std::vector<std::string> names_that_go_on() {
  std::vector<std::string> all;
  for (const Entry& entry : registry())
    if (goes_on(entry.name)) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AfterExpiry,
                         testing::Combine(testing::ValuesIn(names_that_go_on()),
                                          testing::Values(1U, 2U)),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name + "_expire_" + std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace muster::check
