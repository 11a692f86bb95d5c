#include "check/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "check/fold.hpp"

namespace muster::check {

std::size_t Diagram::Arrow::first() const {
  return from.empty() ? to : std::min(to, *std::min_element(from.begin(), from.end()));
}

std::size_t Diagram::Arrow::last() const {
  return from.empty() ? to : std::max(to, *std::max_element(from.begin(), from.end()));
}

namespace {

constexpr std::size_t nowhere = ~std::size_t{0};

// Rank, whether it is the set-up's (which comes first), lane, thread.
using Actor = std::tuple<std::uint32_t, bool, std::uint32_t, std::uint32_t>;

// Lays intervals of rows side by side, in as few tracks as they need when they come by their
// beginning. Where one ends another may begin only further down.
class Tracks {
 public:
  std::size_t add(std::size_t first, std::size_t last) {
    for (std::size_t track = 0; track < ends_.size(); ++track)
      if (ends_[track] < first) return ends_[track] = last, track;
    ends_.push_back(last);
    return ends_.size() - 1;
  }
  [[nodiscard]] std::size_t count() const { return ends_.size(); }

 private:
  std::vector<std::size_t> ends_;
};

class Maker {
 public:
  Maker(const Report& report, std::size_t most) : report_(report) {
    choose_rows(most);
    make_columns();
    join_reads();
    join_missing();
    join_flights();
    lay_tracks();
  }

  Diagram take() { return std::move(diagram_); }

 private:
  void choose_rows(std::size_t most) {
    const std::vector<Event>& events = report_.events;
    std::vector<bool> shown(events.size());
    for (std::size_t at = 0; at < events.size(); ++at) shown[at] = events[at].past;
    const auto failure =
        std::find_if(events.begin(), events.end(), [](const Event& event) { return event.fails; });
    if (failure != events.end()) shown[static_cast<std::size_t>(failure - events.begin())] = true;
    for (const MissingEdge& edge : edges()) {
      if (edge.from) shown[*edge.from] = true;
      shown[edge.to] = true;
    }
    std::vector<Event> chosen;
    std::vector<std::size_t> at_first;  // of the chosen: index in events
    for (std::size_t at = 0; at < events.size(); ++at) {
      if (!shown[at]) continue;
      chosen.push_back(events[at]);
      at_first.push_back(at);
    }
    std::vector<Folded> lines = folded(chosen);
    const std::size_t too_many = lines.size() - std::min(lines.size(), most);
    if (report_.findings.empty()) {
      diagram_.left_out_after = too_many;
      lines.resize(lines.size() - too_many);
    } else {
      diagram_.left_out_before = too_many;
      lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(too_many));
    }
    row_of_.assign(events.size(), nowhere);
    for (Folded& line : lines) {
      Diagram::Row row{std::move(line.event), {}, 0};
      for (const std::size_t at : line.of) {
        row.events.push_back(at_first[at]);
        row_of_[at_first[at]] = diagram_.rows.size();
      }
      diagram_.rows.push_back(std::move(row));
    }
  }

  [[nodiscard]] const std::vector<MissingEdge>& edges() const {
    static const std::vector<MissingEdge> none;
    return report_.findings.empty() ? none : report_.findings.front().edges;
  }

  static Actor actor_of(const Event& event) {
    return {event.rank, !event.setup, event.lane, event.thread};
  }

  // Those who act in a row, and the ranks that should have.
  void make_columns() {
    std::map<Actor, std::size_t> columns;
    for (const Diagram::Row& row : diagram_.rows) columns[actor_of(row.event)] = 0;
    for (const MissingEdge& edge : edges())
      if (edge.rank && !has_rank(columns, *edge.rank)) columns[Actor{*edge.rank, true, 0, 0}] = 0;
    bool lanes = false;
    bool threads = false;
    std::map<std::uint32_t, std::size_t> of_rank;  // threads of lanes
    for (const auto& [actor, column] : columns) {
      const auto& [rank, runs, lane, thread] = actor;
      lanes = lanes || lane > 0;
      threads = threads || thread > 0;
      of_rank[rank] += runs ? 1 : 0;
    }
    for (auto& [actor, column] : columns) {
      const auto& [rank, runs, lane, thread] = actor;
      const bool shares = runs && of_rank[rank] == 1 && columns.contains({rank, false, 0, 0});
      std::string name = fmt::format("rank {}", rank);
      if (!runs && of_rank[rank] > 1) name += " set-up";
      if (runs && lanes) name += fmt::format(" lane {}", lane);
      if (runs && threads) name += fmt::format(" thread {}", thread);
      if (shares)
        diagram_.columns.back().name = name;
      else
        diagram_.columns.push_back({rank, name, 0, 0});
      column = diagram_.columns.size() - 1;
    }
    for (Diagram::Row& row : diagram_.rows) row.column = columns.at(actor_of(row.event));
  }

  static bool has_rank(const std::map<Actor, std::size_t>& columns, std::uint32_t rank) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const auto& column) { return std::get<0>(column.first) == rank; });
  }

  void join_reads() {
    for (std::size_t row = 0; row < diagram_.rows.size(); ++row) {
      Diagram::Arrow arrow;
      arrow.to = row;
      for (const std::size_t event : diagram_.rows[row].events)
        for (const std::size_t deposit : report_.events[event].reads)
          add_once(arrow.from, row_of_[deposit], row);
      if (!arrow.from.empty()) diagram_.arrows.push_back(std::move(arrow));
    }
  }

  static void add_once(std::vector<std::size_t>& rows, std::size_t row, std::size_t but) {
    if (row == nowhere || row == but) return;
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }

  void join_missing() {
    for (const MissingEdge& edge : edges()) {
      Diagram::Arrow arrow;
      arrow.missing = true;
      arrow.to = row_of_[edge.to];
      if (arrow.to == nowhere) continue;
      if (edge.from) add_once(arrow.from, row_of_[*edge.from], arrow.to);
      for (std::size_t at = 0; at < diagram_.columns.size() && arrow.from.empty(); ++at)
        if (edge.rank == diagram_.columns[at].rank && !arrow.column) arrow.column = at;
      diagram_.arrows.push_back(std::move(arrow));
    }
  }

  // A row of several transfers is done with the last of them.
  void join_flights() {
    for (std::size_t row = 0; row < diagram_.rows.size(); ++row) {
      std::optional<Diagram::Flight> flight;
      bool lands = true;
      for (const std::size_t at : diagram_.rows[row].events) {
        const Event& event = report_.events[at];
        if (!event.flies) continue;
        if (!flight) flight = Diagram::Flight{row, row, 0};
        const std::size_t to = event.lands ? row_of_[*event.lands] : nowhere;
        lands = lands && to != nowhere;
        if (lands) flight->to = std::max(*flight->to, to);
      }
      if (!flight) continue;
      if (!lands) flight->to.reset();
      if (flight->to != row) diagram_.flights.push_back(*flight);
    }
  }

  void lay_tracks() {
    const std::size_t end = diagram_.rows.size();
    std::vector<Tracks> arrows(diagram_.columns.size());
    std::vector<Tracks> flights(diagram_.columns.size());
    std::sort(diagram_.arrows.begin(), diagram_.arrows.end(),
              [](const auto& a, const auto& b) { return a.first() < b.first(); });
    for (Diagram::Arrow& arrow : diagram_.arrows) {
      const std::size_t column = diagram_.rows[arrow.to].column;
      arrow.track = arrows[column].add(arrow.first(), arrow.last());
    }
    for (Diagram::Flight& flight : diagram_.flights) {
      const std::size_t column = diagram_.rows[flight.from].column;
      flight.track = flights[column].add(flight.from, flight.to.value_or(end));
    }
    for (std::size_t column = 0; column < diagram_.columns.size(); ++column) {
      diagram_.columns[column].arrows = arrows[column].count();
      diagram_.columns[column].flights = flights[column].count();
    }
  }

  const Report& report_;
  std::vector<std::size_t> row_of_;  // by event
  Diagram diagram_;
};

}  // namespace

Diagram diagram_of(const Report& report, std::size_t most) {
  return Maker(report, most).take();
}

}  // namespace muster::check
