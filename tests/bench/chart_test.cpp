// The charts of `muster bench --svg`.
#include "bench/chart.hpp"

#include <gtest/gtest.h>

#include "bench/curves.hpp"
#include "xml.hpp"

namespace muster::bench {
namespace {

Chart two_lines() {
  return {.title = "put",
          .caption = "a machine",
          .x_title = "size",
          .y_title = "time",
          .lines = {{"own", Look::own, {{8, 100}, {64, 200}, {4096, 1500}}},
                    {"other", Look::peer, {{8, 300}, {64, 310}}}}};
}

class ChartFile : public testing::Test {
 protected:
  void SetUp() override {
    if (!have_python()) GTEST_SKIP() << "python3, which parses the file, is not installed";
  }
};

TEST_F(ChartFile, IsWellFormedAndHoldsEveryPoint) {
  const std::string svg = to_svg(two_lines());
  EXPECT_EQ(ask_xml(svg, "root.tag == E + \"svg\""), "True");
  EXPECT_EQ(ask_xml(svg, "[t.text for t in root.iter(E + \"title\")]"),
            "['put', 'own, 8 B: 100 ns', 'own, 64 B: 200 ns', 'own, 4 KiB: 1.5 \u00b5s', "
            "'other, 8 B: 300 ns', 'other, 64 B: 310 ns']");
  EXPECT_EQ(ask_xml(svg,
                    "[t.text for t in root.iter(E + \"text\") if t.text in "
                    "(\"own\", \"other\", \"8 B\", \"64 B\", \"4 KiB\", \"a machine\")]"),
            "['8 B', '64 B', '4 KiB', 'own', 'other', 'a machine']");
}

TEST_F(ChartFile, TextsAreEscaped) {
  Chart chart = two_lines();
  const std::string hostile = "<b> & \"c\" 'd' ]]> \x01\x7f \xff\xfe";
  chart.title = hostile;
  chart.caption = hostile;
  chart.x_title = hostile;
  chart.y_title = hostile;
  chart.lines[0].name = hostile;
  EXPECT_EQ(ask_xml(to_svg(chart),
                    "sum(\"<b> & \" in (t.text or \"\") for t in root.iter(E + "
                    "\"text\"))"),
            "5");
}

TEST_F(ChartFile, OddRangesHaveNoOddNumbers) {
  for (const std::vector<Point>& points :
       {std::vector<Point>{}, std::vector<Point>{{8, 100}}, std::vector<Point>{{8, 5}, {64, 5}},
        std::vector<Point>{{4, 0.1}, {1 << 30, 1e11}}, std::vector<Point>{{2, 99.99}, {3, 100}},
        std::vector<Point>{{8, 1000}, {16, 1000.0001}}}) {
    Chart chart = two_lines();
    chart.lines = {{"one", Look::reference, points}};
    const std::string svg = to_svg(chart);
    EXPECT_EQ(ask_xml(svg, "root.tag == E + \"svg\""), "True") << svg;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    // Every point lies inside the frame.
    EXPECT_EQ(ask_xml(svg,
                      "all(84 <= x <= 684 and 52 <= y <= 432 for x, y in "
                      "[map(float, p.get(\"d\")[1:].split(\"m\")[0].split()) "
                      "for p in root.iter(E + \"path\") if p.find(E + \"title\") is not None])"),
              "True")
        << svg;
  }
}

TEST_F(ChartFile, LabelsDoNotOverlap) {
  Chart chart = two_lines();
  chart.lines[0].points.clear();
  for (int i = 1; i <= 200; ++i) chart.lines[0].points.push_back({4.0 * i, 100.0 + i});
  EXPECT_EQ(ask_xml(to_svg(chart),
                    "(lambda xs: all(b - a >= 58 for a, b in zip(xs, xs[1:])) and len(xs) > 3)("
                    "[float(t.get(\"x\")) for t in root.iter(E + \"text\") "
                    "if t.text.endswith(\" B\")])"),
            "True");
}

TEST(Chart, ALineWithoutTimesIsNamed) {
  Chart chart = two_lines();
  chart.lines.push_back({"absent", Look::peer, {}});
  EXPECT_NE(to_svg(chart).find(">absent (no times)<"), std::string::npos);
}

TEST(Chart, LabelsHaveUnits) {
  EXPECT_EQ(time_label(0.5), "0.5 ns");
  EXPECT_EQ(time_label(250), "250 ns");
  EXPECT_EQ(time_label(1500), "1.5 &#181;s");
  EXPECT_EQ(time_label(2e7), "20 ms");
  EXPECT_EQ(time_label(3e9), "3 s");
  EXPECT_EQ(bytes_label(8), "8 B");
  EXPECT_EQ(bytes_label(1536), "1.5 KiB");
  EXPECT_EQ(bytes_label(64.0 * 1024 * 1024), "64 MiB");
  EXPECT_EQ(bytes_label(1024.0 * 1024 * 1024), "1 GiB");
}

Measured measured(const std::string& name, Role role, const std::vector<double>& rounds) {
  Measured one;
  one.contender.name = name;
  one.contender.role = role;
  for (const double ns : rounds) one.rounds.push_back({ns});
  return one;
}

TEST(Curves, AreMediansOverTheSizes) {
  const Topic topic{
      .name = "put", .fabric = "host", .unit = "put", .summary = "", .peers = {}, .contenders = {}};
  std::vector<Measurement> runs;
  for (const std::uint32_t bytes : {64U, 8U})  // as given, not as drawn
    runs.push_back(
        {.request = {.bytes = bytes},
         .conditions = {},
         .measured = {measured("own", Role::muster, {3.0 * bytes, 1.0 * bytes, 2.0 * bytes}),
                      measured("peer", Role::peer, {})}});
  const Chart chart = chart_of(topic, runs);
  EXPECT_TRUE(chart.x_is_bytes);
  ASSERT_EQ(chart.lines.size(), 2U);
  ASSERT_EQ(chart.lines[0].points.size(), 2U);
  EXPECT_EQ(chart.lines[0].points[0].x, 8);
  EXPECT_EQ(chart.lines[0].points[0].ns, 16);
  EXPECT_EQ(chart.lines[0].points[1].ns, 128);
  EXPECT_TRUE(chart.lines[1].points.empty());
  EXPECT_EQ(chart.lines[1].look, Look::peer);
}

TEST(Curves, OfAVariantAreItsOwn) {
  const Topic topic{
      .name = "put", .fabric = "gpu", .unit = "put", .summary = "", .peers = {}, .contenders = {}};
  std::vector<Measurement> runs;
  for (const std::uint32_t bytes : {8U, 64U})
    for (const char* variant : {"one way", "both ways"})
      runs.push_back({.request = {.as = As::gpus, .bytes = bytes, .variant = variant},
                      .conditions = {},
                      .measured = {measured("own", Role::muster, {1.0 * bytes})}});
  for (Measurement& run : runs) run.conditions.machine.devices = "2 x Imagined GPU";
  const Chart chart = chart_of(topic, runs);
  EXPECT_EQ(chart.title, "muster bench put: 2 x Imagined GPU, fabric gpu");
  ASSERT_EQ(chart.lines.size(), 2U);
  EXPECT_EQ(chart.lines[0].name, "own, one way");
  EXPECT_EQ(chart.lines[1].name, "own, both ways");
  for (const Line& line : chart.lines) EXPECT_EQ(line.points.size(), 2U);
}

TEST(Curves, AreDrawnOverTheRanksWhereTheSizeIsOne) {
  std::vector<Measurement> runs;
  for (const std::uint32_t ranks : {2U, 8U})
    runs.push_back({.request = {.ranks = ranks},
                    .conditions = {},
                    .measured = {measured("own", Role::muster, {5})}});
  const Chart chart = chart_of({.name = "barrier",
                                .fabric = "host",
                                .unit = "barrier",
                                .summary = "",
                                .peers = {},
                                .contenders = {}},
                               runs);
  EXPECT_FALSE(chart.x_is_bytes);
  EXPECT_EQ(chart.x_title, "ranks");
  EXPECT_EQ(chart.lines[0].points[1].x, 8);
}

}  // namespace
}  // namespace muster::bench
