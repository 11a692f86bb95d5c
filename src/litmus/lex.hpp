// The words of a litmus file, with their places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::litmus {

struct Token {
  enum class Kind : std::uint8_t { word, number, symbol, end } kind = Kind::end;
  std::string text;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

// What is wrong with a file, and where; parse() makes an Error of it.
class Refusal : public std::runtime_error {
 public:
  Refusal(const Token& at, const std::string& what)
      : std::runtime_error(what), line(at.line), column(at.column) {}
  std::uint32_t line;
  std::uint32_t column;
};

struct Text {
  std::string name;           // what follows PTX in the first line
  std::vector<Token> tokens;  // all that follows it and the description; the last is `end`
};

// Throws Refusal.
[[nodiscard]] Text lex(std::string_view text);

// The tokens, one by one.
class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& token = peek();
    if (token.kind != Token::Kind::end) ++at_;
    return token;
  }
  [[nodiscard]] bool at(std::string_view symbol) const {
    return peek().kind != Token::Kind::end && peek().text == symbol;
  }
  bool take_if(std::string_view symbol) { return at(symbol) && (++at_, true); }
  // Throws Refusal where something else is there; `where` says what it belongs to.
  void expect(std::string_view symbol, std::string_view where);

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

// "'x'", or "the end of the file".
[[nodiscard]] std::string quoted(const Token& token);

}  // namespace muster::litmus
