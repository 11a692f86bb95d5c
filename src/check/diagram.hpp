// The events of one execution as a sequence diagram: what stands in which column and row, and what
// joins them. How it is drawn is another matter: see page.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/check/report.hpp"

namespace muster::check {

struct Diagram {
  // A thread that did something. What a rank sets up shares the column of its only thread.
  struct Column {
    std::uint32_t rank = 0;
    std::string name;         // "rank 1", "rank 1 lane 0"
    std::size_t arrows = 0;   // tracks beside it for what comes to it
    std::size_t flights = 0;  // and for its transfers in flight
  };
  // One line, from above as it happened; each event is in one row.
  struct Row {
    Event event;                      // for all that it stands for
    std::vector<std::size_t> events;  // which these are: index in Report::events
    std::size_t column = 0;
  };
  // What comes to a row from others: deposits to the wait that read them, or an edge that is
  // missing. It runs in a track of the row's column from the first of these rows to the last.
  struct Arrow {
    std::size_t to = 0;
    std::vector<std::size_t> from;      // rows; of a missing edge at most one
    std::optional<std::size_t> column;  // of a missing edge that begins in no row: where, if known
    bool missing = false;
    std::size_t track = 0;
    [[nodiscard]] std::size_t first() const;
    [[nodiscard]] std::size_t last() const;
  };
  // A transfer in flight, in a track of its row's column.
  struct Flight {
    std::size_t from = 0;           // row
    std::optional<std::size_t> to;  // the row that knows it to be done; none: it flies to the end
    std::size_t track = 0;
  };

  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Arrow> arrows;
  std::vector<Flight> flights;
  // Where there are too many: rows before the first one here, and after the last.
  std::size_t left_out_before = 0;
  std::size_t left_out_after = 0;
};

// Of what is in the causal past of the report's first finding, and of what should have been: at
// most the last `most` rows. Of all events where nothing is wrong: at most the first.
[[nodiscard]] Diagram diagram_of(const Report& report, std::size_t most = 400);

}  // namespace muster::check
