// What the names in a litmus test stand for, while it is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "litmus/lex.hpp"
#include "litmus/program.hpp"

namespace muster::litmus {

// The number of the name, which is made where it is new.
[[nodiscard]] std::size_t register_number(Thread& thread, const std::string& name);
[[nodiscard]] std::size_t location_number(Program& program, const std::string& name);

// Throw Refusal; `what` is what is being read, in words.
[[nodiscard]] Word take_number(Reader& reader, const std::string& what);
[[nodiscard]] std::string take_name(Reader& reader, const std::string& what);
// "P1" or "1", as threads are called.
[[nodiscard]] std::size_t thread_number(const Token& token);

// Where a branch leads, by name, until all labels of its thread are known.
struct Branch {
  std::size_t instruction = 0;
  Token label;
};

struct Labels {
  std::map<std::string, std::size_t> places;
  std::vector<Branch> branches;
};

// One cell of the table: "[LABEL:] [instruction]". Throws Refusal.
void read_cell(Reader& reader, Program& program, Thread& thread, Labels& labels);

// "exists (...)", "~exists (...)" or "forall (...)", to the end of the file. Throws Refusal.
void read_condition(Reader& reader, Program& program);

}  // namespace muster::litmus
