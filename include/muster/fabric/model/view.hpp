// Elements of windows as the body of a protocol sees them. Included by muster/fabric/model.hpp.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "muster/fabric/model/span.hpp"
#include "muster/types.hpp"

namespace muster::model {

class Fabric;

// An element of a window, which is what view[i] names while its expression lasts. It is read where
// it is converted to T and written where it is assigned to, as T& is on a host, and each access is
// recorded there; it is reported at `where`, the call of local() or address() that it comes from.
//
// What would be read or written at another place than on a host does not compile: an element has no
// name of its own (`auto v = view[i]` would be a copy there and is no copy here: name the type),
// and nothing refers to it (`const T& v = view[i]`, a parameter of that type, &view[i], iterators).
template <class T>
class Ref {
 public:
  Ref(Fabric* fabric, Rank rank, Span span, Where where)
      : fabric_(fabric), rank_(rank), span_(span), where_(where) {}
  Ref(const Ref&) = delete;
  Ref(Ref&&) = delete;
  ~Ref() = default;

  operator T() &&;  // NOLINT: stands for the element
  operator T() const& = delete;
  // Taken, and refused, where something is to refer to the element.
  template <class U>
  requires std::is_same_v<U, T>
  operator const U&() && = delete;  // NOLINT: see above

  // They return nothing: on a host it would be the element, to be read again.
  // NOLINTBEGIN(misc-unconventional-assign-operator, cppcoreguidelines-c-copy-assignment-signature)
  void operator=(T value) &&;
  void operator=(const Ref&) && = delete;
  void operator=(Ref&& other) && { std::move(*this) = T(std::move(other)); }
  void operator=(T value) const& = delete;
  // NOLINTEND(misc-unconventional-assign-operator, cppcoreguidelines-c-copy-assignment-signature)
  void operator+=(T value) && {
    change([&](T old) { return static_cast<T>(old + value); });
  }
  void operator-=(T value) && {
    change([&](T old) { return static_cast<T>(old - value); });
  }
  void operator*=(T value) && {
    change([&](T old) { return static_cast<T>(old * value); });
  }
  void operator++() && {
    change([&](T old) { return static_cast<T>(old + T(1)); });
  }
  void operator--() && {
    change([&](T old) { return static_cast<T>(old - T(1)); });
  }

 private:
  template <class Next>
  void change(Next&& next);

  Fabric* fabric_;
  Rank rank_;
  Span span_;
  Where where_;
};

// What local(window) and address(window, peer) return: view[i] is element i, row-major.
template <class T>
class View {
 public:
  View(Fabric* fabric, Rank rank, WindowRef<T> window, Where where)
      : fabric_(fabric), rank_(rank), window_(window), where_(where) {}
  [[nodiscard]] Ref<T> operator[](std::int64_t index) const;
  [[nodiscard]] std::int64_t size() const { return window_.size(); }

 private:
  Fabric* fabric_;
  Rank rank_;
  WindowRef<T> window_;
  Where where_;
};

}  // namespace muster::model
