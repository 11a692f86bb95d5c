// Result<T>: what set-up returns. A value, or an Error that names what was wrong. Host only.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "muster/types.hpp"

namespace muster {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the message names the argument, its value and what would be right
  out_of_memory,     // ... how much was asked for and how much there is
  expired,           // a wait reached its deadline
  aborted,           // a rank called abort or failed
  peer_lost,         // a rank died
  mismatch,          // ranks called set-up with different arguments; names both sides
  unavailable,       // this machine does not offer it; says why
  system,            // a system call failed
};

struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string what;  // one sentence, without a final stop

  // Where it happened, as far as it is known.
  std::optional<Rank> rank{};
  std::optional<Lane> lane{};
  std::optional<Rank> peer{};  // who was waited for, or who died
  std::optional<std::uint32_t> cell{};
  std::optional<std::uint32_t> seen{};
  std::optional<std::uint32_t> expected{};
};

// The error as one line: "peer_lost: rank 3 died (rank 1, lane 0, cell 12 is 4, expected >= 5)".
[[nodiscard]] std::string to_string(const Error& error);
[[nodiscard]] const char* name_of(ErrorCode code);
[[nodiscard]] const char* name_of(WaitStatus status);

// The code of an error that says how a wait ended: `expired` for what was refused, too, `aborted`
// for what was left pending.
[[nodiscard]] ErrorCode code_of(WaitStatus status);

// Thrown where a Result that holds an error is used as if it held a value. muster::run catches it,
// reports it and tells the other ranks; nothing else in muster throws.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(to_string(error)), error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Error error_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

  // Throws Failure with the error where there is no value.
  [[nodiscard]] T& value() & { return check(), std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return check(), std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return check(), std::get<0>(std::move(state_)); }

  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

 private:
  void check() const {
    if (!has_value()) throw Failure(error());
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }
  void value() const {
    if (error_) throw Failure(*error_);
  }

 private:
  std::optional<Error> error_;
};

// What a lane makes of the status that its body returned: no error where that is ok.
[[nodiscard]] Result<void> result_of(WaitStatus status);

}  // namespace muster
