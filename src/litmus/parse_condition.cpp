#include <fmt/format.h>

#include <algorithm>

#include "litmus/names.hpp"

namespace muster::litmus {
namespace {

Term read_term(Reader& reader, const Program& program) {
  const Token first = reader.peek();
  Term term;
  if (reader.peek(1).text == ":") {
    term.kind = Term::Kind::reg;
    term.thread = thread_number(reader.take());
    reader.take();
    if (term.thread >= program.threads.size())
      throw Refusal(first, fmt::format("the condition names thread {}; the last is P{}",
                                       quoted(first), program.threads.size() - 1));
    const Token name = reader.peek();
    const std::string reg = take_name(reader, "a register");
    const std::vector<std::string>& known = program.threads[term.thread].registers;
    const auto found = std::find(known.begin(), known.end(), reg);
    if (found == known.end())
      throw Refusal(name,
                    fmt::format("P{} has no register '{}': no initial value and no instruction "
                                "names it",
                                term.thread, reg));
    term.index = static_cast<std::size_t>(found - known.begin());
    return term;
  }
  if (first.kind == Token::Kind::number) {
    term.value = take_number(reader, "a value of the condition");
    return term;
  }
  term.kind = Term::Kind::location;
  const std::string name = take_name(reader, "a location, a register as in 'P0:r0', or a number");
  const auto found = std::find_if(program.locations.begin(), program.locations.end(),
                                  [&](const Location& one) { return one.name == name; });
  if (found == program.locations.end())
    throw Refusal(first, fmt::format("there is no location '{}': no initial value and no "
                                     "instruction names it",
                                     name));
  term.index = static_cast<std::size_t>(found - program.locations.begin());
  return term;
}

Condition read_comparison(Reader& reader, const Program& program) {
  Condition one;
  one.kind = Condition::Kind::compare;
  one.left = read_term(reader, program);
  const Token sign = reader.take();
  if (sign.text == "=" || sign.text == "==") {
    one.comparison = Comparison::eq;
  } else if (sign.text == "!=") {
    one.comparison = Comparison::ne;
  } else if (sign.text == "<") {
    one.comparison = Comparison::lt;
  } else if (sign.text == "<=") {
    one.comparison = Comparison::le;
  } else if (sign.text == ">") {
    one.comparison = Comparison::gt;
  } else if (sign.text == ">=") {
    one.comparison = Comparison::ge;
  } else {
    throw Refusal(sign, fmt::format("{} where a comparison was to come: ==, !=, <, <=, > or >=",
                                    quoted(sign)));
  }
  one.right = read_term(reader, program);
  return one;
}

// How deep a condition is nested, while this lives: reading it and judging it recurse.
class Depth {
 public:
  explicit Depth(const Reader& reader) {
    if (++depth > most) {
      --depth;
      throw Refusal(reader.peek(0), fmt::format("the condition is nested more than {} deep", most));
    }
  }
  ~Depth() { --depth; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  static constexpr int most = 1000;
  static inline thread_local int depth = 0;
};

Condition read_any_of(Reader& reader, const Program& program);

Condition read_factor(Reader& reader, const Program& program) {
  const Depth depth(reader);
  if (reader.take_if("~") || reader.take_if("not")) {
    Condition negation;
    negation.kind = Condition::Kind::negation;
    negation.parts.push_back(read_factor(reader, program));
    return negation;
  }
  if (reader.take_if("true")) return {};
  if (!reader.take_if("(")) return read_comparison(reader, program);
  Condition inner = read_any_of(reader, program);
  reader.expect(")", "of the condition");
  return inner;
}

Condition read_all_of(Reader& reader, const Program& program) {
  Condition all;
  all.kind = Condition::Kind::all_of;
  do {
    all.parts.push_back(read_factor(reader, program));
  } while (reader.take_if("/\\") || reader.take_if("&&"));
  return all;
}

Condition read_any_of(Reader& reader, const Program& program) {
  Condition any;
  any.kind = Condition::Kind::any_of;
  do {
    any.parts.push_back(read_all_of(reader, program));
  } while (reader.take_if("\\/") ||
           (reader.at("|") && reader.peek(1).text == "|" && (reader.take(), reader.take_if("|"))));
  return any;
}

}  // namespace

void read_condition(Reader& reader, Program& program) {
  // What others would print; --show prints all of it.
  if (reader.take_if("locations")) {
    reader.expect("[", "behind locations");
    while (!reader.take_if("]")) {
      if (reader.peek().kind == Token::Kind::end) reader.expect("]", "behind the locations");
      reader.take();
    }
  }
  const Token word = reader.take();
  if (word.text == "exists") {
    program.quantifier = Quantifier::exists;
  } else if (word.text == "forall") {
    program.quantifier = Quantifier::forall;
  } else if (word.text == "~" || word.text == "not") {
    reader.expect("exists", "behind the negation");
    program.quantifier = Quantifier::not_exists;
  } else {
    throw Refusal(word,
                  fmt::format("{} where the condition was to come: exists (...), ~exists (...) "
                              "or forall (...)",
                              quoted(word)));
  }
  program.condition = read_any_of(reader, program);
  reader.take_if(";");
  if (reader.peek().kind != Token::Kind::end)
    throw Refusal(reader.peek(),
                  fmt::format("{} behind the condition; parts are joined with /\\ or \\/ and one "
                              "condition ends the file",
                              quoted(reader.peek())));
}

}  // namespace muster::litmus
