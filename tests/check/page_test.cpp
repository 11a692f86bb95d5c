// The page of --html: what its diagram joins, and that it shows what it is given as it is.
#include "check/page.hpp"

#include <algorithm>
#include <string>

#include "check/asking.hpp"
#include "check/html_text.hpp"

namespace muster::check {
namespace {

// Rank 0 writes into rank 1's window and tells it, by a notify of this order.
Entry tells(Order order, const char* window = "inbox") {
  Entry entry;
  entry.name = "tells";
  entry.body = [order, window](model::Team& team) {
    const auto inbox = *team.window<int>({1}, window);
    const auto own = *team.window<int>({1}, "own");
    const Signals told = *team.signals(1);
    (void)team.lane([&, order](auto& fabric) {
      if (fabric.rank() == Rank{0}) {
        fabric.put(inbox, Rank{1}, 0, own, 0, 1);
        fabric.notify(told[0], Rank{1}, 1, NotifyOp::set, order);
      } else if (fabric.wait(told[0], Compare::ge, 1) == WaitStatus::ok) {
        (void)static_cast<int>(fabric.local(inbox)[0]);
      }
    });
  };
  return entry;
}

Report traced(const Entry& entry, Options options) {
  options.trace = true;
  return explore(options, entry.body);
}

// The row whose text begins so; the number of rows where there is none.
std::size_t row_of(const Diagram& diagram, const std::string& begin) {
  std::size_t at = 0;
  while (at < diagram.rows.size() && !diagram.rows[at].event.what.starts_with(begin)) ++at;
  return at;
}

const Diagram::Arrow* arrow_to(const Diagram& diagram, std::size_t row, bool missing) {
  const auto there = std::find_if(
      diagram.arrows.begin(), diagram.arrows.end(),
      [&](const Diagram::Arrow& arrow) { return arrow.to == row && arrow.missing == missing; });
  return there == diagram.arrows.end() ? nullptr : &*there;
}

using Rows = std::vector<std::size_t>;

TEST(Diagram, ADepositLeadsToTheWaitThatReadItAndAMissingEdgeFromAccessToAccess) {
  const Entry entry = tells(Order::relaxed);
  const Report report = traced(entry, options_for(2, Profile::rdma));
  ASSERT_TRUE(report.has(Kind::race)) << told(report);
  const Diagram diagram = diagram_of(report);
  const std::size_t put = row_of(diagram, "put 1 elements");
  const std::size_t notify = row_of(diagram, "notify ");
  const std::size_t wait = row_of(diagram, "wait ");
  const std::size_t read = row_of(diagram, "read inbox");
  ASSERT_LT(std::max({put, notify, wait, read}), diagram.rows.size());
  const Diagram::Arrow* deposit = arrow_to(diagram, wait, false);
  ASSERT_NE(deposit, nullptr);
  EXPECT_EQ(deposit->from, Rows{notify});
  const Diagram::Arrow* missing = arrow_to(diagram, read, true);
  ASSERT_NE(missing, nullptr);
  EXPECT_EQ(missing->from, Rows{put});
  EXPECT_NE(deposit->track, missing->track);
  ASSERT_EQ(diagram.flights.size(), 1U);
  EXPECT_EQ(diagram.flights[0].from, put);
  EXPECT_FALSE(diagram.flights[0].to);
  EXPECT_EQ(diagram.columns.size(), 2U);
  EXPECT_EQ(diagram.columns[diagram.rows[put].column].rank, 0U);
  EXPECT_EQ(diagram.columns[diagram.rows[read].column].rank, 1U);
}

// With the release the wait knows that the put is done.
TEST(Diagram, ATransferFliesUntilSomebodyKnowsThatItIsDone) {
  const Entry entry = tells(Order::release);
  const Report run = one_execution(entry, options_for(2, Profile::rdma));
  const Diagram diagram = diagram_of(run);
  ASSERT_EQ(diagram.flights.size(), 1U);
  EXPECT_EQ(diagram.flights[0].to, row_of(diagram, "wait "));
  for (const Diagram::Arrow& arrow : diagram.arrows) EXPECT_FALSE(arrow.missing);
  EXPECT_TRUE(diagram_of(one_execution(entry, options_for(2, Profile::sc))).flights.empty());
}

// Every event of the failure's past is there once, whatever was folded.
TEST(Diagram, EachEventIsInOneRow) {
  Entry entry;
  entry.body = [](model::Team& team) {
    const auto data = *team.window<int>({64}, "data");
    (void)team.lane([&](auto& fabric) {
      for (int i = 0; i < 64; ++i) fabric.address(data, Rank{0})[i] = i;
    });
  };
  const Report report = traced(entry, options_for(2));
  ASSERT_TRUE(report.has(Kind::race)) << told(report);
  const Diagram diagram = diagram_of(report);
  EXPECT_LT(diagram.rows.size(), report.events.size());
  std::vector<int> times(report.events.size());
  for (const Diagram::Row& row : diagram.rows)
    for (const std::size_t event : row.events) ++times.at(event);
  for (std::size_t at = 0; at < times.size(); ++at)
    EXPECT_EQ(times[at], report.events[at].past ? 1 : 0) << report.events[at].what;
}

// Who waits for ever lacks a deposit: of who gave the last one, or of nobody that is known.
TEST(Diagram, ABlockedWaitLacksADeposit) {
  Entry entry;
  entry.body = [](model::Team& team) {
    const Signals told = *team.signals(2);
    (void)team.lane([&](auto& fabric) {
      if (fabric.rank() == Rank{0}) fabric.notify(told[0], Rank{1}, 1, NotifyOp::add);
      (void)fabric.wait(told[fabric.rank() == Rank{0} ? 1 : 0], Compare::ge, 2);
    });
  };
  const Report report = traced(entry, options_for(2));
  ASSERT_TRUE(report.has(Kind::deadlock)) << told(report);
  const Diagram diagram = diagram_of(report);
  std::size_t of_nobody = 0;
  std::size_t of_rank_0 = 0;
  for (const Diagram::Arrow& arrow : diagram.arrows) {
    if (!arrow.missing) continue;
    EXPECT_TRUE(diagram.rows[arrow.to].event.what.starts_with("waits for ever: "));
    if (arrow.from.empty()) ++of_nobody;
    if (arrow.from == Rows{row_of(diagram, "waits for ever: signals 0[1] of rank 0")}) ++of_rank_0;
  }
  EXPECT_EQ(of_nobody, 1U);
  EXPECT_EQ(of_rank_0, 1U);
}

TEST(Diagram, OfTooManyRowsTheLastAreKeptOfAFailureAndTheFirstOfAnotherRun) {
  const Diagram failure = diagram_of(traced(tells(Order::relaxed), options_for(2)), 2);
  EXPECT_EQ(failure.rows.size(), 2U);
  EXPECT_GT(failure.left_out_before, 0U);
  EXPECT_TRUE(failure.rows.back().event.fails);
  const Report run = one_execution(tells(Order::release), options_for(2));
  const Diagram good = diagram_of(run, 2);
  EXPECT_EQ(good.rows.size(), 2U);
  EXPECT_EQ(good.left_out_after, diagram_of(run).rows.size() - 2);
}

TEST(HtmlText, IsShownAsItIs) {
  EXPECT_EQ(html_text("a < b && \"c\" > 'd'\n\t"),
            "a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;\n\t");
  EXPECT_EQ(html_text("Zürich → \xF0\x9F\x98\x80"), "Zürich → \xF0\x9F\x98\x80");
}

TEST(HtmlText, WhatIsNoCharacterIsReplaced) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(html_text("a\xFF"
                      "b"),
            "a" + bad + "b");
  EXPECT_EQ(html_text("\xC3"), bad);                                // cut short
  EXPECT_EQ(html_text("\xC3("), bad + "(");                         // not gone on with
  EXPECT_EQ(html_text("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(html_text("\xE0\x80\xAF"), bad + bad + bad);            // overlong
  EXPECT_EQ(html_text("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(html_text("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(html_text(std::string("a\0b\x1B", 4)), "a" + bad + "b" + bad);
}

PageResult refuted_result(const Entry& entry, const Options& options) {
  PageResult result;
  result.options = options;
  result.report = explore(options, entry.body);
  result.shown = {options, traced(entry, options)};
  for (const Repair& repair : single_repairs(entry, options, result.report))
    result.mends.push_back({repair, one_execution(entry, options, &repair)});
  return result;
}

TEST(Page, NamesAreEscapedWhereverTheyCome) {
  Entry entry = tells(Order::relaxed, "<img src=x onerror='alert(\"1\")'>&\xFF");
  entry.name = "</script><b>\"&'{{title}}{{content}}";
  entry.protocol.about = "a <i>check</i>";
  const std::string page = page_of({{&entry, {refuted_result(entry, options_for(2))}, {}}});
  for (const std::string text : {"<img", "<b>\"", "<i>", "</script><"})
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  EXPECT_NE(page.find("&lt;img src=x onerror=&#39;alert(&quot;1&quot;)&#39;&gt;&amp;\xEF\xBF\xBD"),
            std::string::npos);
  EXPECT_NE(page.find("<h1>muster check &lt;/script&gt;&lt;b&gt;&quot;&amp;&#39;"),
            std::string::npos);
  EXPECT_EQ(page.find('\xFF'), std::string::npos);
}

// A mend has a button, and behind it the run with it in place, in which nothing fails.
TEST(Page, WhatMendsItIsShownRun) {
  const Entry entry = tells(Order::relaxed);
  const PageResult result = refuted_result(entry, options_for(2));
  ASSERT_EQ(result.mends.size(), 1U);
  EXPECT_EQ(result.mends[0].repair.verdict, Verdict::certified);
  const Report& run = result.mends[0].report;
  EXPECT_TRUE(run.findings.empty());
  EXPECT_TRUE(std::any_of(run.events.begin(), run.events.end(), [](const Event& event) {
    return event.what.ends_with("set 1 release");
  }));
  const std::string page = page_of({{&entry, {result}, {}}});
  EXPECT_NE(page.find("<button type=\"button\" data-shows=\"c0-direct-m0\">"), std::string::npos);
  EXPECT_NE(page.find("<section id=\"c0-direct-m0\">"), std::string::npos);
}

// The source is read where it lies; a place in a file that is not there is named all the same.
TEST(Page, ShowsTheSourceOfEachEvent) {
  Report report = one_execution(tells(Order::release), options_for(2));
  const std::string here = scene_of(report, "x");
  EXPECT_NE(here.find("fabric.notify(told[0], Rank{1}, 1, NotifyOp::set, order);"),
            std::string::npos);
  for (Event& event : report.events) event.at.file = "no/such/<file>.cpp";
  const std::string gone = scene_of(report, "x");
  EXPECT_NE(gone.find("<h4>&lt;file&gt;.cpp <span class=\"soft\">(is not here to be read)"),
            std::string::npos);
  EXPECT_NE(gone.find("href=\"#x-s0-"), std::string::npos);
}

}  // namespace
}  // namespace muster::check
