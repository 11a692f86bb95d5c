// The model's set-up side answers as those of the fabrics do.
#include "check/asking.hpp"
#include "conformance/setup_bodies.hpp"

namespace muster::check {
namespace {

void expect_held(Result<void> (*body)(model::Team&)) {
  const Report report = explore(options_for(2), [body](model::Team& team) {
    const Result<void> held = body(team);
    team.expect(held.has_value(), held ? "" : to_string(held.error()));
  });
  EXPECT_TRUE(answered(report)) << told(report);
}

TEST(SetUp, ExtentsAreCheckedAndFold) {
  expect_held(conformance::extents<model::Team>);
}

TEST(SetUp, AStatusBecomesTheSameErrorEverywhere) {
  expect_held(conformance::statuses<model::Team>);
}

// What can be counted and does not fit the checker is an error of the call.
TEST(SetUp, MoreThanTheModelHasRoomFor) {
  expect_held([](model::Team& team) -> Result<void> {
    testing::Checks checks;
    const auto code = ErrorCode::out_of_memory;
    checks.refused(team.window<float>({1 << 20, 1 << 10}), code, "a window", "1048576 x 1024",
                   "each of 2 ranks");
    checks.refused(team.allocate(std::int64_t{1} << 40U), code, "an allocation", "room");
    return checks.done();
  });
}

}  // namespace
}  // namespace muster::check
