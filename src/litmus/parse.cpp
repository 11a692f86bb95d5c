#include "litmus/parse.hpp"

#include <fmt/format.h>

#include <charconv>

#include "litmus/lex.hpp"
#include "litmus/names.hpp"

namespace muster::litmus {
namespace {

bool begins_condition(const Reader& reader) {
  return reader.at("exists") || reader.at("forall") || reader.at("~") || reader.at("filter") ||
         reader.at("not") || reader.at("locations");
}

// "P0@cta 0,gpu 0 | ... ;"
void read_placement(Reader& reader, Thread& thread) {
  reader.expect("@", "behind the name of a thread, as in 'P0@cta 0,gpu 0'");
  reader.expect("cta", "of a thread's place, as in 'P0@cta 0,gpu 0'");
  thread.cta = static_cast<std::uint32_t>(take_number(reader, "the number of a cta"));
  reader.expect(",", "of a thread's place, as in 'P0@cta 0,gpu 0'");
  reader.expect("gpu", "of a thread's place, as in 'P0@cta 0,gpu 0'");
  thread.gpu = static_cast<std::uint32_t>(take_number(reader, "the number of a gpu"));
}

void read_header(Reader& reader, Program& program) {
  for (std::size_t number = 0;; ++number) {
    const Token name = reader.take();
    if (name.kind != Token::Kind::word || name.text != fmt::format("P{}", number))
      throw Refusal(name,
                    fmt::format("{} where thread P{} was to come: the table's first row names "
                                "all threads, as in 'P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;'",
                                quoted(name), number));
    // Made already where the initial values name it.
    if (program.threads.size() == number) program.threads.emplace_back();
    read_placement(reader, program.threads[number]);
    if (reader.take_if(";")) {
      if (program.threads.size() != number + 1)
        throw Refusal(name, fmt::format("initial values name P{}, and the last thread is P{}",
                                        program.threads.size() - 1, number));
      return;
    }
    reader.expect("|", "or ';' behind a thread's place");
  }
}

// `number` is what the name was given, where there were `before` of them.
void refuse_second(const Token& place, const std::string& name, std::size_t before,
                   std::size_t number) {
  if (number < before)
    throw Refusal(place,
                  fmt::format("{} has an initial value already; there is one for each", name));
}

void read_register_value(Reader& reader, Program& program) {
  constexpr std::size_t most_threads = 64;
  const Token name = reader.take();
  const std::size_t thread = thread_number(name);
  if (thread >= most_threads)
    throw Refusal(name,
                  fmt::format("{}: there are at most {} threads", quoted(name), most_threads));
  reader.expect(":", "behind the name of a thread");
  const Token place = reader.peek();
  const std::string reg = take_name(reader, "a register");
  reader.expect("=", "of an initial value");
  if (program.threads.size() <= thread) program.threads.resize(thread + 1);
  Thread& owner = program.threads[thread];
  const std::size_t before = owner.registers.size();
  const std::size_t number = register_number(owner, reg);
  refuse_second(place, fmt::format("P{}:{}", thread, reg), before, number);
  owner.initial[number] = take_number(reader, "the initial value " + reg);
}

void read_initial_values(Reader& reader, Program& program) {
  reader.expect("{", "of the initial values");
  while (!reader.take_if("}")) {
    if (reader.take_if(";")) continue;
    if (reader.peek(1).text == ":") {
      read_register_value(reader, program);
    } else {
      const Token name = reader.peek();
      const std::string location = take_name(reader, "a location, or a register as in 'P0:r0'");
      if (reader.at("@") || reader.at("aliases") || reader.at("->"))
        throw Refusal(reader.peek(),
                      fmt::format("'{}' is an alias or has a proxy, which this model lacks: write "
                                  "'{}=0', with generic addresses alone",
                                  location, location));
      if (reader.at("["))
        throw Refusal(name, fmt::format("'{}' is an array; locations are single words", location));
      reader.expect("=", "of an initial value");
      const std::size_t before = program.locations.size();
      const std::size_t number = location_number(program, location);
      refuse_second(name, location, before, number);
      program.locations[number].initial = take_number(reader, "the initial value of " + location);
    }
    if (!reader.at("}")) reader.expect(";", "or '}' behind an initial value");
  }
}

void read_table(Reader& reader, Program& program) {
  std::vector<Labels> labels(program.threads.size());
  while (!begins_condition(reader)) {
    for (std::size_t number = 0; number < program.threads.size(); ++number) {
      read_cell(reader, program, program.threads[number], labels[number]);
      const bool last = number + 1 == program.threads.size();
      reader.expect(last ? ";" : "|", fmt::format("behind the cell of P{} (a row has {} cells)",
                                                  number, program.threads.size()));
    }
  }
  for (std::size_t number = 0; number < labels.size(); ++number) {
    for (const Branch& branch : labels[number].branches) {
      const auto found = labels[number].places.find(branch.label.text);
      if (found == labels[number].places.end())
        throw Refusal(branch.label,
                      fmt::format("P{} has no label {}", number, quoted(branch.label)));
      program.threads[number].code[branch.instruction].next = found->second;
    }
  }
}

}  // namespace

std::size_t register_number(Thread& thread, const std::string& name) {
  for (std::size_t i = 0; i < thread.registers.size(); ++i) {
    if (thread.registers[i] == name) return i;
  }
  thread.registers.push_back(name);
  thread.initial.push_back(0);
  return thread.registers.size() - 1;
}

std::size_t location_number(Program& program, const std::string& name) {
  for (std::size_t i = 0; i < program.locations.size(); ++i) {
    if (program.locations[i].name == name) return i;
  }
  program.locations.push_back({name, 0});
  return program.locations.size() - 1;
}

Word take_number(Reader& reader, const std::string& what) {
  const Token token = reader.take();
  std::int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (token.kind != Token::Kind::number || error != std::errc{} || stop != end)
    throw Refusal(
        token, fmt::format("{} is {}; it must be a whole number of 64 bits", what, quoted(token)));
  return static_cast<Word>(value);
}

std::string take_name(Reader& reader, const std::string& what) {
  const Token token = reader.take();
  if (token.kind != Token::Kind::word || token.text.find('.') != std::string::npos)
    throw Refusal(token, fmt::format("{} where {} was to come", quoted(token), what));
  return token.text;
}

std::size_t thread_number(const Token& token) {
  const std::size_t skip = token.text.starts_with('P') ? 1 : 0;
  std::size_t number = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data() + skip, end, number);
  if (error != std::errc{} || stop != end)
    throw Refusal(token, fmt::format("{} where a thread was to come, as in 'P0'", quoted(token)));
  return number;
}

Result<Program> parse(std::string_view text, const std::string& file) {
  try {
    Text words = lex(text);
    Program program;
    program.name = words.name;
    Reader reader(std::move(words.tokens));
    read_initial_values(reader, program);
    read_header(reader, program);
    read_table(reader, program);
    read_condition(reader, program);
    return program;
  } catch (const Refusal& refusal) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}:{}:{}: {}", file, refusal.line, refusal.column, refusal.what())};
  }
}

}  // namespace muster::litmus
