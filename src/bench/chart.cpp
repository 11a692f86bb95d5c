#include "bench/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace muster::bench {

namespace {

// In pixels.
constexpr double left = 84;
constexpr double top = 52;
constexpr double plot_width = 600;
constexpr double plot_height = 380;
constexpr double below = 84;
constexpr double legend_gap = 24;
constexpr double legend_row = 22;
constexpr double legend_sample = 34;
constexpr double letter = 7;  // a generous width of one character
constexpr double bottom = top + plot_height;
constexpr double right = left + plot_width;

// Dark enough on white, light enough on black.
constexpr std::array colours{"#2f7ed8", "#d9730d", "#2e9e5b", "#9a60b4", "#d64550",
                             "#1899a8", "#d6579b", "#a87142", "#7a8b1e", "#5f6ee0"};

constexpr const char* style = R"(<style>
text { font: 12px system-ui, sans-serif; fill: #222; }
.title { font-size: 15px; font-weight: 600; }
.quiet { fill: #666; }
.paper { fill: #fff; }
.grid { stroke: #ddd; }
.axis { stroke: #666; fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd; }
  .quiet { fill: #999; }
  .paper { fill: #1b1b1f; }
  .grid { stroke: #3a3a40; }
  .axis { stroke: #999; }
}
</style>
)";

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return safe;
}

// A logarithmic axis from one value to another, and where these are drawn.
struct Axis {
  double from = 1;
  double to = 10;
  double begin = 0;
  double end = 1;

  [[nodiscard]] double at(double value) const {
    return begin + (end - begin) * std::log(value / from) / std::log(to / from);
  }
};

// 1, 2 and 5 times the powers of ten from the last one that is not above `least` to the first that
// is not below `most`; at least two.
std::vector<double> steps(double least, double most) {
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  std::vector<double> all;
  for (double power = decade; all.size() < 2 || all.back() < most; power *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      if (all.size() >= 2 && all.back() >= most) break;
      if (all.size() == 1 && step * power <= least) all.clear();
      all.push_back(step * power);
    }
  }
  return all;
}

bool is_power_of_ten(double value) {
  const double exponent = std::log10(value);
  return std::abs(exponent - std::round(exponent)) < 1e-9;
}

struct Plot {
  std::vector<double> xs;      // every x of a point, rising
  std::vector<double> levels;  // where a grid line lies
  Axis x;
  Axis y;
};

Plot plot_of(const Chart& chart) {
  Plot plot;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Line& line : chart.lines) {
    for (const Point& point : line.points) {
      plot.xs.push_back(point.x);
      least = std::min(least, point.ns);
      most = std::max(most, point.ns);
    }
  }
  if (plot.xs.empty()) plot.xs = {1}, least = 1, most = 10;
  std::sort(plot.xs.begin(), plot.xs.end());
  plot.xs.erase(std::unique(plot.xs.begin(), plot.xs.end()), plot.xs.end());
  plot.levels = steps(least, most);
  const double span = std::max(plot.xs.back() / plot.xs.front(), 2.0);
  const double margin = std::pow(span, 0.03);  // a marker does not touch the frame
  plot.x = {plot.xs.front() / margin, plot.xs.front() * span * margin, left, right};
  plot.y = {plot.levels.front(), plot.levels.back(), bottom, top};
  return plot;
}

using Out = std::back_insert_iterator<std::string>;

void draw_text(Out out, double x, double y, const char* anchor, const std::string& text,
               const char* class_name = "") {
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                 x, y, anchor, class_name, text);
}

void draw_axes(Out out, const Chart& chart, const Plot& plot) {
  // All steps where they are few, the powers of ten alone where they are many.
  const bool few = plot.levels.size() <= 8;
  for (const double level : plot.levels) {
    const double y = plot.y.at(level);
    if (!few && !is_power_of_ten(level)) continue;
    fmt::format_to(out, "<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left, y, right);
    draw_text(out, left - 8, y + 4, "end", time_label(level));
  }
  constexpr double room = 58;  // of one label
  double last = -room;
  for (const double value : plot.xs) {
    const double x = plot.x.at(value);
    fmt::format_to(out, "<path class=\"axis\" d=\"M{:.1f} {:.1f}v5\"/>\n", x, bottom);
    if (x - last < room) continue;
    draw_text(out, x, bottom + 20, "middle",
              chart.x_is_bytes ? bytes_label(value) : fmt::format("{:g}", value));
    last = x;
  }
  fmt::format_to(out, "<rect class=\"axis\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", left,
                 top, plot_width, plot_height);
  draw_text(out, left + plot_width / 2, bottom + 42, "middle", escaped(chart.x_title));
  fmt::format_to(out,
                 "<text transform=\"translate(18 {}) rotate(-90)\" "
                 "text-anchor=\"middle\">{}</text>\n",
                 top + plot_height / 2, escaped(chart.y_title));
}

// What tells one line from another, besides its colour.
struct Pen {
  const char* colour;
  const char* dashes;  // none: a full line
  double width;
  std::size_t mark;
};

Pen pen_of(const Line& line, std::size_t index) {
  switch (line.look) {
    case Look::own: return {colours[index % colours.size()], "", 2.5, 0};
    case Look::peer: return {colours[index % colours.size()], "7 3", 1.8, 1};
    case Look::reference: return {"#888888", index % 2 == 0 ? "2 3" : "7 2 2 2", 1.8, 2};
  }
  return {colours[0], "", 1, 0};
}

void draw_mark(Out out, const Pen& pen, double x, double y, const std::string& title) {
  // A circle, a square, a diamond.
  constexpr std::array shapes{"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
                              "m-3.2 -3.2h6.4v6.4h-6.4z", "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z"};
  fmt::format_to(out, "<path fill=\"{}\" d=\"M{:.1f} {:.1f}{}\">", pen.colour, x, y,
                 shapes[pen.mark]);
  if (!title.empty()) fmt::format_to(out, "<title>{}</title>", title);
  fmt::format_to(out, "</path>\n");
}

void draw_stroke(Out out, const Pen& pen, const std::string& path) {
  fmt::format_to(out,
                 "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{}\" "
                 "stroke-linejoin=\"round\" d=\"{}\"/>\n",
                 pen.colour, pen.width, pen.dashes[0] == '\0' ? "none" : pen.dashes, path);
}

void draw_line(Out out, const Chart& chart, const Plot& plot, const Line& line, const Pen& pen) {
  std::string path;
  for (const Point& point : line.points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", plot.x.at(point.x),
                        plot.y.at(point.ns));
  if (line.points.size() > 1) draw_stroke(out, pen, path);
  for (const Point& point : line.points) {
    const std::string x = chart.x_is_bytes ? bytes_label(point.x) : fmt::format("{:g}", point.x);
    draw_mark(out, pen, plot.x.at(point.x), plot.y.at(point.ns),
              fmt::format("{}, {}: {}", escaped(line.name), x, time_label(point.ns)));
  }
}

// In the order of the lines' ends from above, so that the eye finds them; those without times last.
void draw_legend(Out out, const Chart& chart) {
  std::vector<std::size_t> order(chart.lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto end_of = [&](std::size_t i) {
    const auto& points = chart.lines[i].points;
    return points.empty() ? -1.0 : points.back().ns;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return end_of(a) > end_of(b); });
  double y = top + 12;
  for (const std::size_t i : order) {
    const Line& line = chart.lines[i];
    const double x = right + legend_gap;
    if (!line.points.empty()) {
      const Pen pen = pen_of(line, i);
      draw_stroke(out, pen, fmt::format("M{:.1f} {:.1f}h{}", x, y - 4, legend_sample - 8));
      draw_mark(out, pen, x + (legend_sample - 8) / 2, y - 4, "");
    }
    draw_text(out, x + legend_sample, y, "start",
              escaped(line.name) + (line.points.empty() ? " (no times)" : ""),
              line.points.empty() ? "quiet" : "");
    y += legend_row;
  }
}

}  // namespace

std::string time_label(double ns) {
  if (ns < 1e3) return fmt::format("{:.3g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.3g} &#181;s", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3g} ms", ns / 1e6);
  return fmt::format("{:.3g} s", ns / 1e9);
}

std::string bytes_label(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && bytes >= 1024; ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string to_svg(const Chart& chart) {
  std::size_t longest = 0;
  for (const Line& line : chart.lines)
    longest = std::max(longest, line.name.size() + (line.points.empty() ? 11 : 0));
  const double legend_height = top + legend_row * static_cast<double>(chart.lines.size()) + 12;
  const double width =
      std::max(right + legend_gap + legend_sample + letter * static_cast<double>(longest),
               left + letter * static_cast<double>(chart.caption.size())) +
      12;
  const double height = std::max(bottom + below, legend_height);
  const Plot plot = plot_of(chart);

  std::string text;
  const Out out(text);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                 "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}"
                 "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
                 width, height, escaped(chart.title), style);
  draw_text(out, left, 30, "start", escaped(chart.title), "title");
  draw_axes(out, chart, plot);
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    draw_line(out, chart, plot, chart.lines[i], pen_of(chart.lines[i], i));
  draw_legend(out, chart);
  draw_text(out, left, bottom + 66, "start", escaped(chart.caption), "quiet");
  return text + "</svg>\n";
}

}  // namespace muster::bench
