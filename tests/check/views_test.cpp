// A view of the model records what a host does where a host does it, or does not compile. What must
// not compile as a whole statement is in view_compile_test.py.
#include <type_traits>

#include "check/asking.hpp"
#include "muster/expect.hpp"

namespace muster::check {
namespace {

using Element = model::Ref<int>;

// ReadAt and written while its expression lasts,
static_assert(std::is_convertible_v<Element, int> && std::is_convertible_v<Element, long>);
static_assert(std::is_assignable_v<Element, int> && std::is_assignable_v<Element, Element>);
// and not through a name, for that would be later than on a host, or on another object.
static_assert(!std::is_convertible_v<Element&, int> && !std::is_convertible_v<const Element&, int>);
static_assert(!std::is_assignable_v<Element&, int> && !std::is_assignable_v<const Element&, int>);
static_assert(!std::is_assignable_v<Element, Element&>);
static_assert(!std::is_copy_constructible_v<Element> && !std::is_move_constructible_v<Element>);
// A host would hand the element itself on, to be read by whoever gets it.
static_assert(!std::is_convertible_v<Element, const int&> && !std::is_convertible_v<Element, int&>);
static_assert(!std::is_convertible_v<model::View<int>, int*>);

template <class T>
concept Ranges = requires(T view) {
  view.begin();
}
|| requires(T view) {
  view.data();
};
static_assert(!Ranges<model::View<int>>);

enum class ReadAt { before_the_wait, after_the_wait };

// Rank 0 stores and tells; rank 1 reads what was stored, before or after it has been told.
Program told_then_read(ReadAt when) {
  return [when](model::Team& team) {
    const auto data = *team.window<int>({1}, "data");
    const Signals ready = *team.signals(1);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        fabric.address(data, Rank{1})[0] = 7;
        fabric.notify(ready[0], Rank{1}, 1, NotifyOp::set);
        return;
      }
      auto view = fabric.local(data);
      const int early = when == ReadAt::before_the_wait ? int(view[0]) : 7;
      if (fabric.wait(ready[0], Compare::ge, 1) != WaitStatus::ok) return;
      const int late = when == ReadAt::after_the_wait ? int(view[0]) : 7;
      expect(fabric, early == 7 && late == 7, "the value");
    });
  };
}

TEST(Views, AnElementIsReadWhereItsTypeIsNamed) {
  EXPECT_FINDS(explore(options_for(2), told_then_read(ReadAt::before_the_wait)), race);
  EXPECT_VERDICT(explore(options_for(2), told_then_read(ReadAt::after_the_wait)), certified);
}

// Each kind of access in an expression is recorded, and computes what a host computes.
TEST(Views, AccessesComputeWhatAHostComputes) {
  const Report report = explore(options_for(1), [](model::Team& team) {
    const auto data = *team.window<int>({4}, "data");
    (void)team.lane([&](auto& fabric) {
      auto view = fabric.local(data);
      view[0] = 5;
      view[1] = view[0];
      view[1] += 2;
      view[1] *= 3;
      view[1] -= 1;
      ++view[1];
      --view[0];
      const int sum = view[0] + view[1];
      expect(fabric, sum == 25 && view[1] == 21 && !(view[2] != 0), "the sum");
      if (view[3]) expect(fabric, false, "nothing was written there");
    });
  });
  EXPECT_VERDICT(report, certified);
}

// An element that is read in a compound assignment is a read too.
TEST(Views, ACompoundAssignmentReadsAndWrites) {
  for (const bool adds : {false, true}) {
    const Report report = explore(options_for(2), [adds](model::Team& team) {
      const auto data = *team.window<int>({2}, "data");
      (void)team.lane([&](auto& fabric) {
        if (adds)
          fabric.address(data, Rank{0})[0] += 1;
        else
          fabric.address(data, Rank{0})[fabric.rank().value] += 1;
      });
    });
    EXPECT_EQ(report.has(Kind::race), adds) << told(report);
  }
}

}  // namespace
}  // namespace muster::check
