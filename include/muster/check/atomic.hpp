// Code that is not written over a fabric, under the checker: atomic objects, fences and plain data
// with the interfaces of the standard library and of libcu++. Somebody's lock, queue or kernel is
// checked by changing an alias:
//
//   template <class T> using atomic = muster::check::atomic<T>;   // was std::atomic<T>
//   template <class T> using plain = muster::check::var<T>;       // data that the lock guards
//
// Each access is explored as muster::check::Rules says (Protocol::rules; C++20 by default), but for
// load buffering: a load may read any write that coherence and happens-before leave it, a store may
// lie anywhere in the modification order that they leave it. A `var` that is used unordered is a
// race. Objects live in the model while a check runs, on the profiles direct and sc; outside of one
// they are plain values. docs/checking.md shows a whole check.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include "muster/fabric/model.hpp"
#include "muster/types.hpp"

namespace muster::check {

// The names that libcu++ gives scopes, for template arguments.
inline constexpr Scope thread_scope_system = Scope::system;
inline constexpr Scope thread_scope_device = Scope::device;
inline constexpr Scope thread_scope_block = Scope::block;

// How the parts of this header speak to the engine.
namespace detail {

using Word = std::uint64_t;
using Where = std::source_location;

// An object, by its address: `bytes` of them hold what it is worth at first, and at last outside of
// a check.
struct Object {
  const void* address = nullptr;
  void* value = nullptr;
  std::uint32_t bytes = 0;
};

struct AtomicCall {
  enum class Kind : std::uint8_t { load, store, change, swap };
  Kind kind = Kind::load;
  const char* operation = "";
  std::memory_order order = std::memory_order_seq_cst;
  std::memory_order failure = std::memory_order_seq_cst;  // of a swap
  Scope scope = Scope::system;
  Word operand = 0;
  Word expected = 0;                   // of a swap
  Word (*next)(Word, Word) = nullptr;  // of a change: found and operand to what is left
  Where where{};                       // line 0: unknown
};

// Returns what it has found.
Word access(const Object& object, const AtomicCall& call);
void fence(std::memory_order order, Scope scope, Where where);
// Plain data: where its value is now.
void* touch(const Object& object, bool writes, Where where);
// The object begins, and ends, while a check runs.
void made(const Object& object);
void gone(const void* address);
void* share(const std::function<std::shared_ptr<void>()>& make, const char* name, Where where);

template <class T>
Word to_word(const T& value) {
  Word word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
T from_word(Word word) {
  T value;
  std::memcpy(&value, &word, sizeof(T));
  return value;
}

// A value, and where it was named.
template <class T>
struct Given {
  template <class U>
  requires std::convertible_to<U, T> Given(
      U&& given, Where place = Where::current())  // NOLINT: stands for the value
      : value(static_cast<T>(std::forward<U>(given))), where(place) {}
  T value;
  Where where;
};

// The operations of `Self`, which has object(). Orders are as in <atomic>, and seq_cst by default.
template <class Self, class T, Scope S>
class AtomicOperations {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 &&
                    (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>),
                "atomic objects have up to 8 bytes, all of which count");
  using Order = std::memory_order;
  using Kind = AtomicCall::Kind;
  static constexpr Order seq_cst = std::memory_order_seq_cst;
  static constexpr bool counts =
      (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_pointer_v<T>;
  static constexpr bool has_bits = std::is_integral_v<T> && !std::is_same_v<T, bool>;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  [[nodiscard]] bool is_lock_free() const { return true; }

  [[nodiscard]] T load(Order order = seq_cst, Where where = Where::current()) const {
    return call({Kind::load, "atomic load", order, order, S, 0, 0, nullptr, where});
  }
  void store(T value, Order order = seq_cst, Where where = Where::current()) const {
    call({Kind::store, "atomic store", order, order, S, to_word(value), 0, nullptr, where});
  }
  T exchange(T value, Order order = seq_cst, Where where = Where::current()) const {
    return change(
        "atomic exchange", value, [](Word, Word operand) { return operand; }, order, where);
  }
  // Fails only where it finds something else, the weak one too. `failure` is the order of a failed
  // one.
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure,
                               Where where = Where::current()) const {
    const Word wanted = to_word(expected);
    expected = call({Kind::swap, "atomic compare_exchange", success, failure, S, to_word(desired),
                     wanted, nullptr, where});
    return to_word(expected) == wanted;
  }
  bool compare_exchange_strong(T& expected, T desired, Order order = seq_cst,
                               Where where = Where::current()) const {
    return compare_exchange_strong(expected, desired, order, failed(order), where);
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure,
                             Where where = Where::current()) const {
    return compare_exchange_strong(expected, desired, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired, Order order = seq_cst,
                             Where where = Where::current()) const {
    return compare_exchange_strong(expected, desired, order, failed(order), where);
  }

  // Of pointers by so many elements.
  template <class U>
  requires counts T fetch_add(U value, Order order = seq_cst, Where where = Where::current())
  const { return change_by("atomic fetch_add", step(value), added<1>, order, where); }
  template <class U>
  requires counts T fetch_sub(U value, Order order = seq_cst, Where where = Where::current())
  const { return change_by("atomic fetch_sub", step(value), added<-1>, order, where); }
  T fetch_and(T value, Order order = seq_cst,
              Where where = Where::current()) const requires has_bits {
    return change(
        "atomic fetch_and", value, [](Word a, Word b) { return a & b; }, order, where);
  }
  T fetch_or(T value, Order order = seq_cst,
             Where where = Where::current()) const requires has_bits {
    return change(
        "atomic fetch_or", value, [](Word a, Word b) { return a | b; }, order, where);
  }
  T fetch_xor(T value, Order order = seq_cst,
              Where where = Where::current()) const requires has_bits {
    return change(
        "atomic fetch_xor", value, [](Word a, Word b) { return a ^ b; }, order, where);
  }
  T fetch_min(T value, Order order = seq_cst,
              Where where = Where::current()) const requires has_bits {
    return change(
        "atomic fetch_min", value,
        [](Word a, Word b) { return from_word<T>(b) < from_word<T>(a) ? b : a; }, order, where);
  }
  T fetch_max(T value, Order order = seq_cst,
              Where where = Where::current()) const requires has_bits {
    return change(
        "atomic fetch_max", value,
        [](Word a, Word b) { return from_word<T>(a) < from_word<T>(b) ? b : a; }, order, where);
  }

  // Who is not woken waits for ever, which is not modelled: poll instead.
  void wait(T old, Order order = seq_cst) const = delete;
  void notify_one() const = delete;
  void notify_all() const = delete;

  // Of these a report knows no place but the one before.
  operator T() const { return load(seq_cst, Where{}); }  // NOLINT: as std::atomic's
  T operator=(T value) const {                           // NOLINT: as std::atomic's
    store(value, seq_cst, Where{});
    return value;
  }
  T operator+=(Given<T> by) const requires has_bits {
    return static_cast<T>(fetch_add(by.value, seq_cst, by.where) + by.value);
  }
  T operator-=(Given<T> by) const requires has_bits {
    return static_cast<T>(fetch_sub(by.value, seq_cst, by.where) - by.value);
  }
  T operator++() const requires has_bits {
    return static_cast<T>(fetch_add(T{1}, seq_cst, Where{}) + T{1});
  }
  T operator--() const requires has_bits {
    return static_cast<T>(fetch_sub(T{1}, seq_cst, Where{}) - T{1});
  }
  T operator++(int) const requires has_bits { return fetch_add(T{1}, seq_cst, Where{}); }
  T operator--(int) const requires has_bits { return fetch_sub(T{1}, seq_cst, Where{}); }

 private:
  static constexpr Order failed(Order order) {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    return order == std::memory_order_release ? std::memory_order_relaxed : order;
  }
  // What is added, as a word: of pointers a number of bytes.
  template <class U>
  static Word step(U value) {
    if constexpr (std::is_pointer_v<T>)
      return to_word(static_cast<std::ptrdiff_t>(value) *
                     static_cast<std::ptrdiff_t>(sizeof(std::remove_pointer_t<T>)));
    else
      return to_word(static_cast<T>(value));
  }
  template <int sign>
  static Word added(Word found, Word operand) {
    if constexpr (std::is_pointer_v<T>) {
      return sign > 0 ? found + operand : found - operand;
    } else if constexpr (std::is_integral_v<T>) {
      return to_word(static_cast<T>(sign > 0 ? found + operand : found - operand));
    } else {
      const T by = from_word<T>(operand);
      return to_word(static_cast<T>(from_word<T>(found) + (sign > 0 ? by : -by)));
    }
  }
  T change(const char* operation, T value, Word (*next)(Word, Word), Order order,
           Where where) const {
    return change_by(operation, to_word(value), next, order, where);
  }
  T change_by(const char* operation, Word operand, Word (*next)(Word, Word), Order order,
              Where where) const {
    return call({Kind::change, operation, order, order, S, operand, 0, next, where});
  }
  T call(const AtomicCall& made) const {
    return from_word<T>(access(static_cast<const Self*>(this)->object(), made));
  }
};

}  // namespace detail

// As std::atomic and cuda::atomic.
template <class T, Scope S = Scope::system>
class atomic : public detail::AtomicOperations<atomic<T, S>, T, S> {
 public:
  constexpr atomic() : atomic(T{}) {}
  constexpr atomic(T initial) : value_(initial) {  // NOLINT: as std::atomic's
    if (!std::is_constant_evaluated()) detail::made(object());
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  constexpr ~atomic() {
    if (!std::is_constant_evaluated()) detail::gone(this);
  }
  T operator=(T value) {  // NOLINT: as std::atomic's
    return detail::AtomicOperations<atomic, T, S>::operator=(value);
  }

  [[nodiscard]] detail::Object object() const { return {this, &value_, sizeof(T)}; }

 private:
  mutable T value_;
};

// As std::atomic_ref and cuda::atomic_ref. What it refers to is read once in each execution, for
// what it is worth at first, and must be reached by atomic_ref alone after that.
template <class T, Scope S = Scope::system>
class atomic_ref : public detail::AtomicOperations<atomic_ref<T, S>, T, S> {
 public:
  static constexpr std::size_t required_alignment = sizeof(T);
  explicit atomic_ref(T& object) : object_(&object) {}
  atomic_ref(const atomic_ref&) = default;
  atomic_ref& operator=(const atomic_ref&) = delete;
  ~atomic_ref() = default;
  using detail::AtomicOperations<atomic_ref, T, S>::operator=;

  [[nodiscard]] detail::Object object() const { return {object_, object_, sizeof(T)}; }

 private:
  T* object_;
};

// As std::atomic_flag.
class atomic_flag {
 public:
  constexpr atomic_flag() : set_(false) {}
  bool test_and_set(std::memory_order order = std::memory_order_seq_cst,
                    detail::Where where = detail::Where::current()) {
    return set_.exchange(true, order, where);
  }
  void clear(std::memory_order order = std::memory_order_seq_cst,
             detail::Where where = detail::Where::current()) {
    set_.store(false, order, where);
  }
  [[nodiscard]] bool test(std::memory_order order = std::memory_order_seq_cst,
                          detail::Where where = detail::Where::current()) const {
    return set_.load(order, where);
  }

 private:
  atomic<bool> set_;
};

// As std::atomic_thread_fence and cuda::atomic_thread_fence.
inline void atomic_thread_fence(std::memory_order order, Scope scope = Scope::system,
                                detail::Where where = detail::Where::current()) {
  detail::fence(order, scope, where);
}

// Plain data that threads share: a use of it that is unordered with another one, one of the two a
// write, is a race.
template <class T>
class var {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  constexpr var() : var(T{}) {}
  constexpr explicit var(T initial) : value_(initial) {
    if (!std::is_constant_evaluated()) detail::made(object());
  }
  var(const var&) = delete;
  constexpr ~var() {
    if (!std::is_constant_evaluated()) detail::gone(this);
  }

  [[nodiscard]] T read(detail::Where where = detail::Where::current()) const {
    return *static_cast<const T*>(detail::touch(object(), false, where));
  }
  void write(T value, detail::Where where = detail::Where::current()) {
    *static_cast<T*>(detail::touch(object(), true, where)) = value;
  }
  operator T() const { return read(detail::Where{}); }  // NOLINT: stands for the value
  var& operator=(detail::Given<T> given) {              // NOLINT: takes a value
    write(given.value, given.where);
    return *this;
  }
  var& operator=(const var& other) {
    if (this != &other) write(other.read(detail::Where{}), detail::Where{});
    return *this;
  }
  var& operator+=(detail::Given<T> by) {
    write(static_cast<T>(read(by.where) + by.value), by.where);
    return *this;
  }
  var& operator-=(detail::Given<T> by) {
    write(static_cast<T>(read(by.where) - by.value), by.where);
    return *this;
  }
  var& operator++() {
    write(static_cast<T>(read(detail::Where{}) + T{1}), detail::Where{});
    return *this;
  }
  var& operator--() {
    write(static_cast<T>(read(detail::Where{}) - T{1}), detail::Where{});
    return *this;
  }

 private:
  [[nodiscard]] detail::Object object() const { return {this, &value_, sizeof(T)}; }

  mutable T value_;
};

// One object for all ranks, where lanes of one rank are not enough: a set-up call, in the body of a
// check. It is made anew in each execution, from the arguments of the rank that comes first.
template <class T, class... A>
T& shared(model::Team& /*team*/, const A&... arguments) {
  return *static_cast<T*>(detail::share(
      [&] { return std::static_pointer_cast<void>(std::make_shared<T>(arguments...)); },
      "a shared object", detail::Where::current()));
}

}  // namespace muster::check
