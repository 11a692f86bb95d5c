// Numbers on the command line, with complaints that name the argument, its value and what is right.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace muster::cli {

// A command line that cannot be meant. main() prints it with the verb's name and returns 2.
class UsageError : public CLI::ParseError {
 public:
  explicit UsageError(const std::string& what)
      : CLI::ParseError("UsageError", what, CLI::ExitCodes::ValidationError) {}
};

inline std::uint32_t whole_number(const std::string& argument, const std::string& text,
                                  std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || value < least || value > most) {
    throw UsageError(fmt::format("{} is '{}'; it must be a whole number from {} to {}", argument,
                                 text, least, most));
  }
  return value;
}

// Seconds, with or without a fraction.
inline std::chrono::milliseconds seconds(const std::string& argument, const std::string& text,
                                         bool may_be_zero) {
  constexpr double most = 1e9;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool number = !text.empty() && *end == '\0' && std::isfinite(value);
  if (!number || value < 0 || value > most || (value == 0 && !may_be_zero)) {
    throw UsageError(
        fmt::format("{} is '{}'; it must be a number of seconds, {} and at most {:.0e}", argument,
                    text, may_be_zero ? "0 or more" : "above 0", most));
  }
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(value));
}

}  // namespace muster::cli
