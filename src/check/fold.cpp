#include "check/fold.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>

namespace muster::check {

namespace {

constexpr std::size_t longest_loop = 4;     // lines
constexpr std::size_t least_times = 3;      // fewer are told one by one
constexpr const char* seen_mark = ": saw";  // of what waited

// A text in which each number is a place for one.
struct Line {
  const Event* event = nullptr;
  std::string words;  // each number is a '#'
  std::vector<std::int64_t> numbers;
  bool folds = false;
};

Line line_of(const Event& event) {
  Line line{&event, "", {}, event.what.find(seen_mark) == std::string::npos};
  const char* const end = event.what.data() + event.what.size();
  for (const char* at = event.what.data(); at != end;) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      line.words += *at++;
      continue;
    }
    std::int64_t number = 0;
    at = std::from_chars(at, end, number).ptr;
    line.words += '#';
    line.numbers.push_back(number);
  }
  return line;
}

bool same_thread(const Event& a, const Event& b) {
  return a.rank == b.rank && a.lane == b.lane && a.thread == b.thread && a.setup == b.setup &&
         a.past == b.past;
}

bool same_call(const Line& a, const Line& b) {
  return b.folds && a.words == b.words && a.event->where == b.event->where &&
         same_thread(*a.event, *b.event);
}

// How often the `length` lines from `first` on come in a row.
std::size_t times_of(const std::vector<Line>& lines, std::size_t first, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i)
    if (first + i >= lines.size() || !lines[first + i].folds ||
        !same_thread(*lines[first].event, *lines[first + i].event))
      return 1;
  const auto goes_on = [&](std::size_t at) {  // the line there, with what was one and two before
    if (at >= lines.size() || !same_call(lines[at - length], lines[at])) return false;
    if (at < first + 2 * length) return true;
    const auto& now = lines[at].numbers;
    const auto& last = lines[at - length].numbers;
    const auto& before = lines[at - 2 * length].numbers;
    for (std::size_t n = 0; n < now.size(); ++n)
      if (now[n] - last[n] != last[n] - before[n]) return false;
    return true;
  };
  for (std::size_t times = 1;; ++times)
    for (std::size_t i = 0; i < length; ++i)
      if (!goes_on(first + times * length + i)) return times;
}

// "5", "0..63", "63..0", "0, 2 .. 62"
std::string range(std::int64_t from, std::int64_t next, std::int64_t to) {
  if (from == to && from == next) return fmt::format("{}", from);
  const std::int64_t step = next - from;
  if (step == 1 || step == -1) return fmt::format("{}..{}", from, to);
  return fmt::format("{}, {} .. {}", from, next, to);
}

std::string in_ranges(const Line& from, const Line& next, const Line& to) {
  std::string text;
  std::size_t number = 0;
  for (const char letter : from.words) {
    if (letter != '#' || number == from.numbers.size()) {
      text += letter;
      continue;
    }
    text += range(from.numbers[number], next.numbers[number], to.numbers[number]);
    ++number;
  }
  return text;
}

}  // namespace

std::vector<Folded> folded(const std::vector<Event>& events) {
  std::vector<Line> lines;
  lines.reserve(events.size());
  for (const Event& event : events) lines.push_back(line_of(event));
  std::vector<Folded> out;
  for (std::size_t at = 0; at < lines.size();) {
    std::size_t length = 1;
    std::size_t times = 1;
    for (std::size_t tried = 1; tried <= longest_loop; ++tried) {
      const std::size_t here = times_of(lines, at, tried);
      if (here >= least_times && here * tried > times * length) {
        length = tried;
        times = here;
      }
    }
    for (std::size_t i = 0; i < length; ++i) {
      Folded line{*lines[at + i].event, {}};
      for (std::size_t time = 0; time < times; ++time) line.of.push_back(at + time * length + i);
      if (times > 1) {
        const Line& last = lines[at + (times - 1) * length + i];
        line.event.what = (i > 0        ? "and: "
                           : length > 1 ? fmt::format("{} x in turn: ", times)
                                        : fmt::format("{} x ", times)) +
                          in_ranges(lines[at + i], lines[at + length + i], last);
      }
      out.push_back(std::move(line));
    }
    at += times * length;
  }
  return out;
}

}  // namespace muster::check
