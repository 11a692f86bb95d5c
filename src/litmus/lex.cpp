#include "litmus/lex.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace muster::litmus {
namespace {

bool word_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Text whole() {
    Text read;
    skip();
    const Token head = word();
    if (head.text != "PTX")
      throw Refusal(head, fmt::format("the file begins with {}; a litmus test of this model begins "
                                      "with 'PTX NAME'",
                                      quoted(head)));
    while (!done() && text_[at_] != '\n') read.name += advance();
    while (!read.name.empty() && std::isspace(static_cast<unsigned char>(read.name.back())) != 0)
      read.name.pop_back();
    read.name.erase(0, read.name.find_first_not_of(" \t"));
    if (read.name.empty()) throw Refusal(head, "PTX has no name behind it; write 'PTX NAME'");
    skip();
    if (!done() && text_[at_] == '"') description();
    do {
      skip();
      read.tokens.push_back(token());
    } while (read.tokens.back().kind != Token::Kind::end);
    return read;
  }

 private:
  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  [[nodiscard]] bool starts(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }

  char advance() {
    const char c = text_[at_++];
    column_ = c == '\n' ? 1 : column_ + 1;
    line_ += c == '\n' ? 1U : 0U;
    return c;
  }

  [[nodiscard]] Token here(Token::Kind kind) const { return {kind, {}, line_, column_}; }

  // Blanks and comments: (* ... *), and // to the end of the line.
  void skip() {
    while (!done()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        advance();
      } else if (starts("//")) {
        while (!done() && text_[at_] != '\n') advance();
      } else if (starts("(*")) {
        const Token begin = here(Token::Kind::symbol);
        while (!done() && !starts("*)")) advance();
        if (done()) throw Refusal(begin, "the comment has no end; write *)");
        advance(), advance();
      } else {
        return;
      }
    }
  }

  void description() {
    const Token begin = here(Token::Kind::symbol);
    do {
      advance();
    } while (!done() && text_[at_] != '"');
    if (done()) throw Refusal(begin, "the description has no end; write \"");
    advance();
  }

  Token word() {
    Token token = here(Token::Kind::end);
    while (!done() && word_letter(text_[at_])) token.text += advance();
    if (!token.text.empty()) token.kind = Token::Kind::word;
    return token;
  }

  Token token() {
    if (done()) return here(Token::Kind::end);
    const bool minus = text_[at_] == '-' && at_ + 1 < text_.size() &&
                       std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0;
    if (minus || std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      const Token begin = here(Token::Kind::number);
      std::string digits;
      if (minus) digits += advance();
      Token number = word();
      number.kind = Token::Kind::number;
      number.text = digits + number.text;
      number.column = begin.column;
      return number;
    }
    if (word_letter(text_[at_])) return word();
    return symbol();
  }

  Token symbol() {
    static constexpr std::array<std::string_view, 8> pairs{
        "==", "!=", "<=", ">=", "/\\", "\\/", "&&", "->"};
    Token token = here(Token::Kind::symbol);
    for (const std::string_view pair : pairs) {
      if (!starts(pair)) continue;
      token.text = pair;
      advance(), advance();
      return token;
    }
    token.text = std::string(1, advance());
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

}  // namespace

Text lex(std::string_view text) {
  return Lexer(text).whole();
}

std::string quoted(const Token& token) {
  return token.kind == Token::Kind::end ? "the end of the file" : fmt::format("'{}'", token.text);
}

void Reader::expect(std::string_view symbol, std::string_view where) {
  if (take_if(symbol)) return;
  throw Refusal(peek(), fmt::format("{} where '{}' {} was to come", quoted(peek()), symbol, where));
}

}  // namespace muster::litmus
