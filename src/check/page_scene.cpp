// One execution in HTML: the rows of the diagram, each with its piece of every line, and the
// source.
//
// Across: each column is a thread's lifeline, to the left of it the tracks of what comes to it, to
// the right those of its transfers in flight. Down: a row is as high as its text, so a line is
// drawn in percents of the row, and what is at an event is at a fixed distance from the row's top.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "check/html_text.hpp"
#include "check/page.hpp"
#include "check/source_lines.hpp"

namespace muster::check {

namespace {

constexpr std::size_t margin = 13;       // of a column, on each side, in pixels
constexpr std::size_t wide_track = 8;    // beside a lifeline
constexpr std::size_t narrow_track = 5;  // where they would take too much of the page
constexpr std::size_t wide_gutter = 260;
constexpr std::size_t letter = 7;         // of a column's name
constexpr std::size_t event_height = 13;  // from the row's top
constexpr std::size_t colours = 8;

class Scene {
 public:
  Scene(const Report& report, std::string id)
      : report_(report),
        id_(std::move(id)),
        diagram_(diagram_of(report)),
        files_(source_of(diagram_)) {
    lay_columns();
    if (gutter_ <= wide_gutter) return;
    track_ = narrow_track;
    lay_columns();
  }

  std::string html() {
    put("<div class=\"scene\">\n<div class=\"scroll\">\n");
    legend();
    put("<ol class=\"diagram\" style=\"--gutter: {}px\">\n", gutter_);
    heading();
    if (diagram_.left_out_before > 0)
      put("<li class=\"beyond\">{} earlier lines are left out</li>\n", diagram_.left_out_before);
    for (std::size_t row = 0; row < diagram_.rows.size(); ++row) put_row(row);
    if (diagram_.left_out_after > 0)
      put("<li class=\"beyond\">{} later lines are left out</li>\n", diagram_.left_out_after);
    put("</ol>\n</div>\n<div class=\"source\">\n");
    for (std::size_t file = 0; file < files_.size(); ++file) put_file(file);
    put("</div>\n</div>\n");
    return std::move(out_);
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Values>(values)...);
  }

  void lay_columns() {
    at_.clear();
    gutter_ = 0;
    for (const Diagram::Column& column : diagram_.columns) {
      const std::size_t label = short_name(column).size() * letter / 2 + 3;
      gutter_ += std::max(margin + column.arrows * track_, label);
      at_.push_back(gutter_);
      gutter_ += std::max(margin + column.flights * track_, label);
    }
  }

  // "1", "1/0": the heading says what the number is.
  static std::string short_name(const Diagram::Column& column) {
    std::string name;
    for (std::size_t at = 0; at < column.name.size(); ++at)
      if (std::isdigit(static_cast<unsigned char>(column.name[at])) != 0)
        name += column.name[at];
      else if (!name.empty() && name.back() != '/' && column.name[at] == ' ')
        name += '/';
    if (name.ends_with('/')) name.pop_back();
    return column.name.ends_with("set-up") ? name + "*" : name;
  }

  [[nodiscard]] std::string row_id(std::size_t row) const {
    return fmt::format("{}-e{}", id_, diagram_.rows[row].events.front());
  }
  [[nodiscard]] std::size_t arrow_x(const Diagram::Arrow& arrow) const {
    return at_[diagram_.rows[arrow.to].column] - (arrow.track + 1) * track_;
  }
  [[nodiscard]] std::string colour(std::size_t column) const {
    return fmt::format("k{}", diagram_.columns[column].rank % colours);
  }

  void legend() {
    const auto sign = [](const char* shape) {
      return fmt::format("<svg width=\"34\" height=\"12\" aria-hidden=\"true\">{}</svg>", shape);
    };
    put("<div class=\"legend\">");
    const auto any = [&](bool missing) {
      return std::any_of(diagram_.arrows.begin(), diagram_.arrows.end(),
                         [&](const auto& arrow) { return arrow.missing == missing; });
    };
    if (any(false))
      put("<span>{}a deposit, until it is read</span>",
          sign("<line class=\"deposit\" x1=\"1\" y1=\"6\" x2=\"27\" y2=\"6\"/>"
               "<path class=\"deposit-head\" d=\"M33 6l-7 -4v8z\"/>"));
    if (!diagram_.flights.empty())
      put("<span>{}a transfer in flight</span>",
          sign("<line class=\"flight\" x1=\"1\" y1=\"6\" x2=\"33\" y2=\"6\"/>"));
    if (any(true))
      put("<span>{}what is missing</span>",
          sign("<line class=\"missing\" x1=\"1\" y1=\"6\" x2=\"27\" y2=\"6\"/>"
               "<path class=\"missing-head\" d=\"M33 6l-7 -4v8z\"/>"));
    put("</div>\n");
  }

  void heading() {
    bool deeper = false;
    bool set_up = false;
    put("<li class=\"heading\"><svg aria-hidden=\"true\">");
    for (std::size_t column = 0; column < at_.size(); ++column) {
      const std::string name = short_name(diagram_.columns[column]);
      deeper = deeper || name.find('/') != std::string::npos;
      set_up = set_up || name.ends_with('*');
      put("<text class=\"label {}\" x=\"{}\" y=\"18\">{}</text>", colour(column), at_[column],
          name);
    }
    put("</svg>{}{}; from top to bottom as it happened</li>\n",
        deeper ? "rank/lane or thread" : "rank", set_up ? " (*: its set-up)" : "");
  }

  void put_row(std::size_t at) {
    const Diagram::Row& row = diagram_.rows[at];
    put("<li id=\"{}\" class=\"{}{}\"", row_id(at), row.event.fails ? "fails" : "event",
        row.event.past ? "" : " beyond");
    put_relations(at);
    put("><svg aria-hidden=\"true\">");
    for (std::size_t column = 0; column < at_.size(); ++column)
      put("<line class=\"life {}\" x1=\"{}\" y1=\"0\" x2=\"{}\" y2=\"100%\"/>", colour(column),
          at_[column], at_[column]);
    for (const Diagram::Flight& flight : diagram_.flights) put_flight(flight, at);
    for (const Diagram::Arrow& arrow : diagram_.arrows) put_arrow(arrow, at);
    put("<circle class=\"dot {}{}\" cx=\"{}\" cy=\"{}\" r=\"4.5\"/></svg>", colour(row.column),
        row.event.fails ? " failed" : "", at_[row.column], event_height);
    put_text(at);
    put("</li>\n");
  }

  // For who reads the page by program: which events these are, and the rows that lead to this one.
  void put_relations(std::size_t at) {
    put(" data-events=\"{}\"", fmt::join(diagram_.rows[at].events, " "));
    for (const bool missing : {false, true}) {
      std::string from;
      for (const Diagram::Arrow& arrow : diagram_.arrows)
        if (arrow.to == at && arrow.missing == missing)
          for (const std::size_t row : arrow.from) from += (from.empty() ? "" : " ") + row_id(row);
      if (!from.empty()) put(" data-{}=\"{}\"", missing ? "lacks" : "reads", from);
    }
    for (const Diagram::Flight& flight : diagram_.flights)
      if (flight.from == at) put(" data-lands=\"{}\"", flight.to ? row_id(*flight.to) : "never");
  }

  // The piece between two rows of a line that goes down.
  void put_down(std::string_view kind, std::size_t x, std::size_t first, std::size_t last,
                std::size_t at) {
    if (at < first || at > last || first == last) return;
    put("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", kind, x,
        at == first ? event_height : 0, x, at == last ? fmt::format("{}", event_height) : "100%");
  }

  void put_across(std::string_view kind, std::size_t from, std::size_t to) {
    put("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", kind, from, event_height,
        to, event_height);
  }

  void put_flight(const Diagram::Flight& flight, std::size_t at) {
    const std::size_t x = at_[diagram_.rows[flight.from].column] + (flight.track + 1) * track_;
    put_down("flight", x, flight.from, flight.to.value_or(diagram_.rows.size()), at);
  }

  void put_arrow(const Diagram::Arrow& arrow, std::size_t at) {
    const char* kind = arrow.missing ? "missing" : "deposit";
    const std::size_t x = arrow_x(arrow);
    put_down(kind, x, arrow.first(), arrow.last(), at);
    if (std::find(arrow.from.begin(), arrow.from.end(), at) != arrow.from.end())
      put_across(kind, at_[diagram_.rows[at].column], x);
    if (arrow.to != at) return;
    const std::size_t end = at_[diagram_.rows[at].column];
    // One that begins in no row comes from that rank's lifeline, or out of nowhere.
    if (arrow.from.empty())
      put_across(kind, arrow.column ? at_[*arrow.column] : x - std::min(x, margin), x);
    put_across(kind, x, end - 10);
    put("<path class=\"{}-head\" d=\"M{} {}l-7 -4v8z\"/>", kind, end - 4, event_height);
  }

  void put_text(std::size_t at) {
    const Diagram::Row& row = diagram_.rows[at];
    put("<span class=\"who {}\">{}</span> ", colour(row.column), diagram_.columns[row.column].name);
    put("{} <span class=\"at\">", html_text(row.event.what));
    put_place(row.event);
    put("</span>");
    for (const Diagram::Flight& flight : diagram_.flights)
      if (flight.from == at && !flight.to)
        put(" <span class=\"soft\">never known to be done</span>");
    const bool lacks =
        std::any_of(diagram_.arrows.begin(), diagram_.arrows.end(),
                    [&](const Diagram::Arrow& arrow) { return arrow.missing && arrow.to == at; });
    if (!lacks || told_) return;
    told_ = true;
    put("<br><span class=\"words\">missing: {}</span>",
        html_text(report_.findings.front().missing));
  }

  // "my_ring.cpp:31, in exchange.hpp:56", as links to the lines beside it.
  void put_place(const Event& event) {
    if (event.at.line == 0) return put("({})", html_text(event.where));
    put("(");
    if (event.call.line > 0) {
      put_link(event.call);
      put(", in ");
    }
    put_link(event.at);
    put(")");
  }

  void put_link(const Place& place) {
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (files_[file].file == place.file)
        put("<a href=\"#{}-s{}-{}\">{}:{}</a>", id_, file, place.line, html_text(files_[file].name),
            place.line);
  }

  void put_file(std::size_t at) {
    const SourceFile& file = files_[at];
    put("<h4>{}{}</h4>\n<ol>\n", html_text(file.name),
        !file.found  ? " <span class=\"soft\">(is not here to be read)</span>"
        : file.newer ? " <span class=\"soft\">(has been changed since this was built)</span>"
                     : "");
    std::uint32_t last = 0;
    for (const SourceLine& line : file.lines) {
      if (last > 0 && line.number > last + 1 && file.found) put("<li class=\"gap\">…</li>\n");
      last = line.number;
      put("<li id=\"{}-s{}-{}\"{}><span class=\"n\">{}</span><span class=\"t\">{}</span></li>\n",
          id_, at, line.number,
          line.fails  ? " class=\"wrong\""
          : line.acts ? " class=\"hit\""
                      : "",
          line.number, html_text(line.text));
    }
    put("</ol>\n");
  }

  const Report& report_;
  std::string id_;
  Diagram diagram_;
  std::vector<SourceFile> files_;
  std::vector<std::size_t> at_;  // of each column's lifeline
  std::size_t track_ = wide_track;
  std::size_t gutter_ = 0;
  bool told_ = false;  // what is missing, in words
  std::string out_;
};

}  // namespace

std::string scene_of(const Report& report, const std::string& id) {
  return Scene(report, id).html();
}

}  // namespace muster::check
