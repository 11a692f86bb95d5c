// What a protocol tells its fabric of a call that a user makes of it: where in the source it is,
// what it is, and where it begins and ends. Included by muster/fabric.hpp.
#pragma once

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "muster/types.hpp"

namespace muster {

// The last parameter of whatever a user calls of a protocol, `CallSite<F> site = {}`, never given:
// the place of that call in the source, which reports of the fabric name beside the protocol's own
// (the model's alone do). On every other fabric it is nothing at all.
template <class F>
struct CallSite {};

template <class F>
requires requires(F& fabric, std::source_location where) {
  fabric.returned(fabric.called_from(where));
}
struct CallSite<F> {
  constexpr CallSite(std::source_location place = std::source_location::current()) : where(place) {}
  std::source_location where;
};

// For as long as this lives, what the calling thread does belongs to the call at `site`; within
// another such call, to the outer one.
template <class F>
class Called {
 public:
  MUSTER_FN Called(F& /*fabric*/, CallSite<F> /*site*/) {}
};

template <class F>
requires requires(F& fabric, CallSite<F> site) {
  fabric.called_from(site.where);
}
class Called<F> {
 public:
  Called(F& fabric, CallSite<F> site)
      : fabric_(fabric), outermost_(fabric.called_from(site.where)) {}
  ~Called() { fabric_.returned(outermost_); }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;

 private:
  F& fabric_;
  bool outermost_;
};

// What a call moves: so many elements, in chunks, of the type that element_code names. No rows: it
// moves nothing.
struct TransferShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t chunk_rows = 0;  // 0: in one piece
  std::int64_t chunk_cols = 0;
  std::uint64_t element = 0;
};

enum class ElementKind : std::uint8_t { floating = 1, integer, natural, other };

// The bytes of an element, and above them its kind.
template <class T>
inline constexpr std::uint64_t element_code =
    sizeof(T) | static_cast<std::uint64_t>(std::is_floating_point_v<T> ? ElementKind::floating
                                           : !std::is_integral_v<T>    ? ElementKind::other
                                           : std::is_signed_v<T>       ? ElementKind::integer
                                                                       : ElementKind::natural)
                    << 32U;

// A call that every rank of the team makes alike on this lane: its name, and what must agree. Where
// all lanes of a rank make it together, as many on every rank: how many.
struct CallSignature {
  static constexpr std::uint64_t no_cell = ~std::uint64_t{0};

  const char* name = "";
  std::uint64_t detail[2] = {0, 0};  // its first cell, or no_cell; whatever else
  TransferShape shape{};
  std::uint32_t lanes = 0;  // 0: each lane for itself
  // Which call of this object it is on the lane, from 1 on; 0: that is not counted. It is named,
  // not compared.
  std::uint32_t number = 0;
  std::uint32_t root = none;  // the rank that the others give to, or get from
  std::uint32_t op = none;    // a ReduceOp, or above first_own_operator by its type
  // The rank has refused the call for what it was given, and takes no part in it: where all refuse
  // it alike they agree.
  bool invalid = false;

  static constexpr std::uint32_t none = ~0U;
  // From here on, but for none, a code is that of a type of the caller's own: a digest of its name.
  static constexpr std::uint32_t first_own_operator = 256;
};

// Tells the fabric of a call that is about to be made. One that can compare (the model, the host's
// in a verifying run) reports ranks that make different calls, by name, where they would hang else;
// for the others it is nothing at all. Compared are the calls of one number, counted on each lane
// of each rank: so a call that is described is described by all ranks. Ranks that are eight
// described calls apart or more are not compared, but by the model.
template <class F>
MUSTER_FN void describe(F& fabric, const CallSignature& call, CallSite<F> site = {}) {
  const Called called(fabric, site);
  if constexpr (requires { fabric.describe(call); }) fabric.describe(call);
}

// One call of a protocol, for as long as this lives: its waits share one deadline, which starts
// when the first of them turns slow, so that a call with 7 absent peers expires as soon as one with
// a single one does. A wait outside of every such call has a deadline of its own. A call within
// another (a barrier in a set-up call) has the outer one's deadline. Where waits have no deadline
// it is nothing at all.
//
// A fabric that has deadlines offers begin_call(), which says whether the lane is in a call
// already, and end_call(), which takes that. A protocol whose call is several functions
// (PacketExchange) uses begin_call and end_call below.
template <class F>
class OneCall {
 public:
  MUSTER_FN explicit OneCall(F& /*fabric*/) {}
};

template <class F>
requires requires(F& fabric) {
  fabric.end_call(fabric.begin_call());
}
class OneCall<F> {
 public:
  MUSTER_FN explicit OneCall(F& fabric) : fabric_(fabric), inner_(fabric.begin_call()) {}
  MUSTER_FN ~OneCall() { fabric_.end_call(inner_); }
  OneCall(const OneCall&) = delete;
  OneCall& operator=(const OneCall&) = delete;

 private:
  F& fabric_;
  bool inner_;
};

// The begin of a call that another function ends; one that was never ended is over.
template <class F>
MUSTER_FN void begin_call(F& fabric) {
  if constexpr (requires { fabric.begin_call(); }) {
    fabric.end_call(false);
    (void)fabric.begin_call();
  }
}
template <class F>
MUSTER_FN void end_call(F& fabric) {
  if constexpr (requires { fabric.begin_call(); }) fabric.end_call(false);
}

}  // namespace muster
