// Checks that work in a thread, in a forked process and in the checker alike: they keep the first
// difference, and the body hands it back as an Error. A gtest expectation would be lost in a child.
#pragma once

#include <cstring>
#include <optional>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::testing {

template <class T>
[[nodiscard]] std::string text_of(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_same_v<T, WaitStatus>) {
    out << name_of(value);
  } else if constexpr (std::is_same_v<T, Rank> || std::is_same_v<T, Lane>) {
    out << value.value;
  } else if constexpr (std::is_enum_v<T>) {
    out << +static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    out << +value;  // an int8_t as a number
  } else {
    out << value;
  }
  return out.str();
}

class Checks {
 public:
  // Each returns whether it held, so that a body can leave a loop that has lost its meaning.
  template <class T>
  bool equal(const T& seen, const std::type_identity_t<T>& expected, std::string_view what,
             std::source_location where = std::source_location::current()) {
    if (seen == expected) return true;
    return fail(std::string(what) + " is " + text_of(seen) + ", expected " + text_of(expected),
                where);
  }
  bool holds(bool condition, std::string_view what,
             std::source_location where = std::source_location::current()) {
    return condition || fail(std::string(what) + " does not hold", where);
  }
  bool ok(WaitStatus status, std::string_view what,
          std::source_location where = std::source_location::current()) {
    return status == WaitStatus::ok ||
           fail(std::string(what) + " ended with " + name_of(status), where);
  }
  template <class T>
  bool ok(const Result<T>& result, std::string_view what,
          std::source_location where = std::source_location::current()) {
    return result.has_value() ||
           fail(std::string(what) + " failed: " + to_string(result.error()), where);
  }
  // The result is an error of that code, whose text holds each of the parts.
  template <class T, class... Parts>
  bool refused(const Result<T>& result, ErrorCode code, std::string_view what,
               const Parts&... parts) {
    if (result.has_value()) return fail(std::string(what) + " was accepted");
    bool held = result.error().code == code ||
                fail(std::string(what) + " gave the code " + name_of(result.error().code) +
                     " in place of " + name_of(code) + ": " + result.error().what);
    // No location: a default argument cannot follow the parts; `what` tells where.
    ((held = mentions(result.error().what, parts, what) && held), ...);
    return held;
  }
  bool mentions(const std::string& text, std::string_view part, std::string_view what) {
    return text.find(part) != std::string::npos ||
           fail(std::string(what) + ": \"" + std::string(part) + "\" is not in the text \"" + text +
                "\"");
  }

  // What the body returns: nothing, or the first difference.
  [[nodiscard]] Result<void> done() const {
    return first_ ? Result<void>(*first_) : Result<void>();
  }

 private:
  bool fail(const std::string& text) {
    if (!first_) first_ = Error{.code = ErrorCode::mismatch, .what = text};
    return false;
  }
  bool fail(const std::string& text, std::source_location where) {
    const char* file = where.file_name();
    const char* slash = std::strrchr(file, '/');
    return fail(std::string(slash != nullptr ? slash + 1 : file) + ":" +
                std::to_string(where.line()) + ": " + text);
  }

  std::optional<Error> first_;
};

}  // namespace muster::testing
