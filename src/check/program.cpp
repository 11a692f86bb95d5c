// What a check program does. In a file of its own: the mark belongs to programs with this main and
// to no others.
#include <array>

#include "check/command.hpp"
#include "check/program_mark.hpp"

namespace muster::check {

namespace {

constexpr auto joined() {
  std::array<char, mark_first.size() + mark_second.size() + 1> mark{};
  std::size_t at = 0;
  for (const char byte : mark_first) mark[at++] = byte;
  for (const char byte : mark_second) mark[at++] = byte;
  return mark;
}

// As an object, which the compiler cannot take apart as it may a literal.
[[gnu::used]] constexpr auto mark = joined();

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, mark.data());
}

}  // namespace muster::check
