// What all collectives share: their options, the memory that they take, and the walk over it.
//
// Peers read and write what a collective owns: its stage, its ring or its slots. A caller's `to`
// and `from` they never reach, but in AllReduce's direct, whose comment says what that means after
// a call that has failed; after any other one they may be written and read at once.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "muster/collective/share.hpp"
#include "muster/collective/straight.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/transfer/shape.hpp"

namespace muster {

// What the cells of a collective hold.
enum class Cells : std::uint8_t {
  epochs,   // generations that only grow: the default, one deposit less for each wait
  credits,  // counts that the waiter takes back: all cells are zero when all ranks have returned
};

struct CollectiveOptions {
  // How many elements each lane can stage in one round; larger messages take several rounds. 0 is
  // 64 KiB of them (on hosts 256 KiB for an AllReduce, a ReduceScatter, an AllToAll and a
  // Broadcast), a negative number an error (Failure). Staging takes twice that, a call with a root
  // once, for each lane that the team may run.
  std::int64_t chunk = 0;
};

// Of a collective that calls the caller's arithmetic, too.
struct RowOptions {
  std::int64_t chunk = 0;  // as in CollectiveOptions
  // Shares of lanes, and tiles, begin at multiples of so many elements of each part: a row, which
  // then lies in one tile of one lane. At most a tile; 0 is 16 bytes for shares, and any for tiles.
  std::int64_t grain = 0;
};

namespace detail {

// A tile of a collective holds 4 KiB: 16 bytes for each of 256 threads, or a host's first cache.
template <class T>
inline constexpr std::int64_t collective_tile = sizeof(T) < 4096
                                                    ? static_cast<std::int64_t>(4096 / sizeof(T))
                                                    : 1;

// act(width) with the elements of the tile, an integral_constant, that suits runs of `count`: a
// short one where they fit it, for what a tile holds beyond its run costs as much as the run.
template <class T, std::int64_t C, class Act>
MUSTER_FN auto with_tile(std::int64_t count, Act&& act) {
  constexpr std::int64_t narrow = sizeof(T) < 256 ? 256 / static_cast<std::int64_t>(sizeof(T)) : 1;
  if constexpr (narrow < C)
    if (count <= narrow) return act(std::integral_constant<std::int64_t, narrow>{});
  return act(std::integral_constant<std::int64_t, C>{});
}

// The bytes of a chunk that nobody has said, and those where more make long messages quicker, which
// a team knows.
inline constexpr std::int64_t usual_chunk = 65536;
template <class Team>
[[nodiscard]] std::int64_t long_chunk(const Team& team) {
  if constexpr (requires { team.long_chunk(); })
    return team.long_chunk();
  else
    return usual_chunk;
}

// The option, as it is meant.
template <class T>
[[nodiscard]] std::int64_t chunk_of(std::int64_t chunk, std::int64_t usual_bytes = usual_chunk) {
  const std::int64_t usual = usual_bytes / static_cast<std::int64_t>(sizeof(T));
  if (chunk < 0)
    throw Failure(Error{ErrorCode::invalid_argument,
                        "chunk is " + std::to_string(chunk) +
                            "; it must be a positive number of elements, or 0 for 64 KiB of them"});
  if (chunk > 0) return chunk;
  return usual > 0 ? usual : 1;
}

// A grain of the caller's, checked against the elements of a tile and of a chunk; 0 is 16 bytes.
template <class T>
[[nodiscard]] std::int64_t grain_of(std::int64_t grain, std::int64_t tile, std::int64_t chunk) {
  if (grain >= 0 && grain <= tile && grain <= chunk) return grain;
  throw Failure(Error{ErrorCode::invalid_argument,
                      "grain is " + std::to_string(grain) + "; it must be from 0 to the tile's " +
                          std::to_string(tile) + " elements and the chunk's " +
                          std::to_string(chunk)});
}

// The rows that the caller's arithmetic wants whole; C: elements of a tile.
template <class T, std::int64_t C>
class Grain {
 public:
  Grain() = default;
  // Throws Failure where it is not from 0 to a tile and `most` elements.
  Grain(std::int64_t grain, std::int64_t most) : given_(grain_of<T>(grain, C, most)) {}

  [[nodiscard]] MUSTER_FN Share share(std::int64_t count, std::uint32_t part,
                                      std::uint32_t parts) const {
    if (given_ == 0) [[likely]]
      return share_of<T>(count, part, parts);
    return share_of<T>(count, part, parts, given_);
  }
  // Of so many elements those of whole rows.
  [[nodiscard]] MUSTER_FN constexpr std::int64_t whole(std::int64_t elements) const {
    return given_ == 0 ? elements : elements / given_ * given_;
  }

 private:
  std::int64_t given_ = 0;
};

// The same for a call that shows a part for each rank: at least one element of each.
template <class T, class Team>
[[nodiscard]] std::int64_t chunk_for_each(const Team& team, std::int64_t chunk,
                                          std::int64_t grain = 1) {
  const std::int64_t meant = chunk_of<T>(chunk, long_chunk(team));
  const std::int64_t least = (grain > 1 ? grain : 1) * team.size();
  return meant < least ? least : meant;
}

// A window or plain memory as one run of elements.
template <class T>
[[nodiscard]] MUSTER_FN constexpr WindowRef<T> as_run(WindowRef<T> window) {
  return {window.offset, 1, window.size(), window.segment, window.team};
}
template <class T>
[[nodiscard]] MUSTER_FN constexpr MemoryRef<T> as_run(MemoryRef<T> memory) {
  return {memory.data, 1, memory.size()};
}

// The first byte of a run, among those of its kind: a window's segment, or plain memory.
template <class T>
[[nodiscard]] MUSTER_FN std::uint64_t first_byte(WindowRef<T> window) {
  return window.offset;
}
template <class T>
[[nodiscard]] MUSTER_FN std::uint64_t first_byte(MemoryRef<T> memory) {
  return reinterpret_cast<std::uintptr_t>(memory.data);
}
template <class A, class B>
[[nodiscard]] MUSTER_FN constexpr bool may_meet(A a, B b) {
  if constexpr (is_window<A> && is_window<B>)
    return a.segment == b.segment;
  else
    return is_window<A> == is_window<B>;
}

inline constexpr std::int64_t nowhere = INT64_MIN;

// Do both ends hold what a call moves, and overlap nowhere, but for `from` beginning exactly
// `shift` elements behind `to`, in place?
template <class To, class From>
[[nodiscard]] MUSTER_FN bool holds_call(To to, std::int64_t to_count, From from,
                                        std::int64_t from_count, std::int64_t shift) {
  constexpr std::int64_t element = sizeof(typename To::value_type);
  if (to_count < 0 || to_count > to.size() || from_count < 0 || from_count > from.size())
    return false;
  if (!may_meet(to, from) || to_count == 0 || from_count == 0) return true;
  const auto distance = static_cast<std::int64_t>(first_byte(from) - first_byte(to));
  return distance >= to_count * element || -distance >= from_count * element ||
         (shift != nowhere && distance == shift * element);
}

// So many elements of each rank, in all; -1, which no end holds, where that is no number.
[[nodiscard]] MUSTER_FN constexpr std::int64_t of_all_ranks(std::int64_t count,
                                                            std::uint32_t ranks) {
  return count < 0 || count > INT64_MAX / std::int64_t{ranks} ? -1 : count * ranks;
}

// visit(at, count) for the parts of a run of `count` elements, of at most `most` each.
template <class Visit>
MUSTER_FN constexpr void each_part(std::int64_t count, std::int64_t most, Visit&& visit) {
  for (std::int64_t at = 0; at < count; at += most)
    visit(at, count - at < most ? count - at : most);
}
template <std::int64_t tile, class Visit>
MUSTER_FN constexpr void each_tile(std::int64_t count, Visit&& visit) {
  each_part(count, tile, visit);
}

// step(at, count) for the pieces of a share of at most `chunk` elements: at least one, so that a
// lane without data meets the others too. Ends where a step says false.
template <class Step>
MUSTER_FN constexpr void each_piece(std::int64_t count, std::int64_t chunk, Step&& step) {
  std::int64_t at = 0;
  do {
    const std::int64_t piece = count - at < chunk ? count - at : chunk;
    if (!step(at, piece)) return;
    at += piece;
  } while (at < count);
}

[[nodiscard]] MUSTER_FN constexpr Box run_box(std::int64_t at, std::int64_t count) {
  return Box{0, at, 1, count};
}

// The type's name as the compiler writes it, by FNV-1a: the same in all ranks of one program. Two
// types that it writes alike, as it may two lambdas of one function, are not told apart.
template <class Type>
[[nodiscard]] MUSTER_FN constexpr std::uint32_t digest_of_type() {
  std::uint32_t digest = 2166136261U;
  for (const char* at = __PRETTY_FUNCTION__; *at != '\0'; ++at)
    digest = (digest ^ static_cast<unsigned char>(*at)) * 16777619U;
  return digest;
}

// What a verifying run and the checker compare of an operator: which one it is, of the caller's own
// the type. What an object of that type holds is not compared.
inline constexpr std::uint32_t no_operator = CallSignature::none;
template <class Op>
inline constexpr std::uint32_t own_operator_code = CallSignature::first_own_operator +
                                                   digest_of_type<Op>() %
                                                       (CallSignature::none -
                                                        CallSignature::first_own_operator);
template <class Op>
[[nodiscard]] MUSTER_FN constexpr std::uint32_t operator_code([[maybe_unused]] Op op) {
  if constexpr (std::is_same_v<Op, ReduceOp>)
    return static_cast<std::uint32_t>(op);
  else if constexpr (std::is_same_v<Op, Sum>)
    return static_cast<std::uint32_t>(ReduceOp::sum);
  else if constexpr (std::is_same_v<Op, Prod>)
    return static_cast<std::uint32_t>(ReduceOp::prod);
  else if constexpr (std::is_same_v<Op, Max>)
    return static_cast<std::uint32_t>(ReduceOp::max);
  else if constexpr (std::is_same_v<Op, Min>)
    return static_cast<std::uint32_t>(ReduceOp::min);
  else
    return own_operator_code<Op>;
}

// Tells of a call that is about to be made, by all ranks alike; or that this rank has refused.
template <class T, class F>
MUSTER_FN void describe_collective(F& fabric, const char* name, Rows rows, std::uint32_t op,
                                   std::int64_t count, bool is_valid = true,
                                   std::uint32_t root = CallSignature::none) {
  CallSignature call{
      name, {rows.first.cell, 0}, {.rows = 1, .cols = count, .element = element_code<T>}};
  call.root = root;
  call.op = op;
  call.invalid = !is_valid;
  describe(fabric, call);
}

// The caller's arithmetic, where there is none.
struct NoHook {
  template <class Tile>
  MUSTER_FN void operator()(Tile& /*tile*/, Box /*box*/) const {}
};

template <class Before, class After>
inline constexpr bool hooked = !std::is_same_v<Before, NoHook> || !std::is_same_v<After, NoHook>;

// As with_tile; hooks get tiles of C elements, always.
template <class T, std::int64_t C, bool has_hooks, class Act>
MUSTER_FN auto with_tile_for(std::int64_t count, Act&& act) {
  if constexpr (has_hooks)
    return act(std::integral_constant<std::int64_t, C>{});
  else
    return with_tile<T, C>(count, act);
}

// Shows `count` elements of `from`, from `start` on, at stage_at of the round that comes; so many
// of them in a tile, on each of which `before` is called.
template <std::int64_t C, class F, class Rounds, class Tile, class From, class Before = NoHook>
MUSTER_FN void show(F& fabric, Rounds& rounds, Tile& tile, From from, std::int64_t start,
                    std::int64_t count, std::int64_t stage_at, Before before = {},
                    std::int64_t in_a_tile = C) {
  if constexpr (std::is_same_v<Before, NoHook> && Rounds::template writes_straight<From>) {
    if (count > 0) rounds.write_from(from, run_box(start, count), stage_at);
    return;
  }
  each_part(count, in_a_tile, [&](std::int64_t at, std::int64_t length) {
    const Box box = run_box(start + at, length);
    fabric.load(tile, from, box);
    before(tile, box);
    rounds.write(tile, stage_at + at, length, count);
  });
}

// The other way: what `owner` has shown at stage_at, into `to` from `start` on.
template <std::int64_t C, class F, class Rounds, class Tile, class To, class After = NoHook>
MUSTER_FN void collect(F& fabric, Rounds& rounds, Tile& tile, Rank owner, std::int64_t stage_at,
                       To to, std::int64_t start, std::int64_t count, After after = {},
                       std::int64_t in_a_tile = C) {
  if constexpr (std::is_same_v<After, NoHook> && Rounds::template reads_straight<To>) {
    if (count > 0) rounds.read_to(to, run_box(start, count), owner, stage_at);
    return;
  }
  each_part(count, in_a_tile, [&](std::int64_t at, std::int64_t length) {
    const Box box = run_box(start + at, length);
    rounds.read(tile, owner, stage_at + at, length);
    after(tile, box);
    fabric.store(tile, to, box);
  });
}

// `count` elements from `start` on of `from` to the same place of `to`.
template <std::int64_t C, class F, class Tile, class To, class From>
MUSTER_FN void copy_run(F& fabric, Tile& tile, To to, From from, std::int64_t start,
                        std::int64_t count) {
  if constexpr (CarriesStraight<F, To, From>) {
    if (count > 0) fabric.carry(to, run_box(start, count), from, run_box(start, count));
    return;
  }
  each_tile<C>(count, [&](std::int64_t at, std::int64_t length) {
    const Box box = run_box(start + at, length);
    fabric.load(tile, from, box);
    fabric.store(tile, to, box);
  });
}

// Where the stage of `from` has its part for `to`, in parts: in the order of the ranks to the
// right, from the own one on. So two ranks use one place for one purpose, as a Stage likes it.
template <class F>
[[nodiscard]] MUSTER_FN std::int64_t part_place(const F& fabric, Rank from, Rank to) {
  return to.value < from.value ? std::int64_t{to.value} + fabric.size() - from.value
                               : std::int64_t{to.value} - from.value;
}

// Shows `piece` elements from `start` on of each other rank's `count` in `from`, each where its
// part of the stage lies, of `most` elements.
template <std::int64_t C, class F, class Rounds, class Tile, class From, class Before = NoHook>
MUSTER_FN void show_parts(F& fabric, Rounds& rounds, Tile& tile, From from, std::int64_t count,
                          std::int64_t start, std::int64_t piece, std::int64_t most,
                          Before before = {}, std::int64_t in_a_tile = C) {
  for (std::uint32_t step = 1; step < fabric.size(); ++step)
    show<C>(fabric, rounds, tile, from, right_of(fabric, step).value * count + start, piece,
            step * most, before, in_a_tile);
}

}  // namespace detail

}  // namespace muster
