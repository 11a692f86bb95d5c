// A line chart in SVG: both axes logarithmic, times upwards. One self-contained file, readable on
// light and on dark pages. (Debian has no small C++ library for this; PLplot and gnuplot are
// plotting systems of their own.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::bench {

struct Point {
  double x = 0;   // above 0
  double ns = 0;  // above 0
};

// How a line is drawn: what is measured, whom it is measured beside, what both are compared with.
enum class Look : std::uint8_t { own, peer, reference };

struct Line {
  std::string name;
  Look look = Look::own;
  std::vector<Point> points;  // by rising x; none: the legend says that there are no times
};

struct Chart {
  std::string title;
  std::string caption;  // below the axes: the circumstances
  std::string x_title;
  std::string y_title;
  bool x_is_bytes = true;  // otherwise plain numbers
  std::vector<Line> lines;
};

// The whole file. Texts may hold any bytes: what XML cannot hold, or is not ASCII, becomes '?'.
[[nodiscard]] std::string to_svg(const Chart& chart);

// "250 ns", "1.5 us", "20 ms"; the micro sign as a character reference.
[[nodiscard]] std::string time_label(double ns);

// "8 B", "64 KiB", "2 MiB".
[[nodiscard]] std::string bytes_label(double bytes);

}  // namespace muster::bench
