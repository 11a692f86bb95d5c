// What the host fabric does at once where others load a tile and store it: a run of elements goes
// from where it lies to where it shall be. Included by muster/fabric/host.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "muster/fabric/host/order.hpp"
#include "muster/fabric/host/vectors.hpp"
#include "muster/types.hpp"

namespace muster::host::detail {

// Ends of one type of element, in which sums are kept too.
template <class To, class A, class B, class Op, class T = typename To::value_type>
inline constexpr bool folds = std::is_same_v<std::remove_const_t<typename A::value_type>, T>&&
    std::is_same_v<std::remove_const_t<typename B::value_type>, T>&& has_loop<T, T, Op>;

// The operations of muster/collective/straight.hpp. Boxes are of one row and lie in their ends, as
// for a load or a store; where one does not, nothing moves and the lane has an error.
template <class Fabric>
class Runs {
 public:
  // As store of a tile to the own window, or remote_store to the peer's, for others to read.
  // `around`: past the caches, where their cores are far; such a store is part of a release only
  // where a converge lies between.
  template <class Tile, class T>
  void show(Tile& tile, WindowRef<T> to, Rank peer, Box box, bool around) {
    T* const target = shown_row(to, peer, box, Tile::cols);
    if (target != nullptr) write(target, tile.first(box.cols), bytes_of<T>(box), around);
  }
  // As load and show, through a tile that nobody looks at.
  template <class From, class T>
  void show(From from, Box from_box, WindowRef<T> to, Rank peer, Box to_box, bool around) {
    const auto* const source = row("load", from, self().rank(), from_box, from_box.cols);
    T* const target = shown_row(to, peer, to_box, from_box.cols);
    if (source != nullptr && target != nullptr) write(target, source, bytes_of<T>(to_box), around);
  }
  // As remote_load and store, through a tile that nobody looks at.
  template <class T, class To>
  void fetch(WindowRef<T> from, Rank peer, Box from_box, To to, Box to_box) {
    const T* const source = row("remote_load", from, peer, from_box, from_box.cols);
    auto* const target = row("store", to, self().rank(), to_box, from_box.cols);
    if (source != nullptr && target != nullptr) write(target, source, bytes_of<T>(to_box), false);
  }
  // As load and store, through a tile that nobody looks at. Where it is one place nothing moves.
  template <class To, class From>
  void carry(To to, Box to_box, From from, Box from_box) {
    const auto* const source = row("load", from, self().rank(), from_box, from_box.cols);
    auto* const target = row("store", to, self().rank(), to_box, from_box.cols);
    if (source != nullptr && target != nullptr && source != target)
      write(target, source, bytes_of<typename To::value_type>(to_box), false);
  }
  // As remote_load, or load, to another tile and sums.combine(that, op). What lies behind the box
  // in `sums` holds anything afterwards.
  template <class Sums, class From, class Op>
  requires has_loop<typename Sums::value_type, std::remove_const_t<typename From::value_type>, Op>
  void combine_from(Sums& sums, From from, Rank peer, Box box, Op /*op*/) {
    const auto* const source = row("remote_load", from, peer, box, Sums::cols);
    if (source == nullptr) return;
    auto* const mine = sums.first(box.cols);
    combine<Op>(mine, mine, source, box.cols);
  }
  // As loads of a and of b to tiles, combine(b's, op) of a's, and a store to `to`.
  template <class To, class A, class B, class Op>
  requires folds<To, A, B, Op>
  void fold(To to, Box to_box, A a, Rank a_peer, Box a_box, B b, Rank b_peer, Box b_box,
            Op /*op*/) {
    const auto* const first = row("remote_load", a, a_peer, a_box, to_box.cols);
    const auto* const second = row("remote_load", b, b_peer, b_box, to_box.cols);
    auto* const target = row("store", to, self().rank(), to_box, a_box.cols);
    if (first != nullptr && second != nullptr && target != nullptr)
      combine<Op>(target, first, second, to_box.cols);
  }

 protected:
  // Stores past the caches are done before what is stored afterwards.
  void complete_stores() {
    if (!streams_) [[likely]]
      return;
    streams_ = false;
    finish_stream();
  }

 private:
  [[nodiscard]] Fabric& self() { return static_cast<Fabric&>(*this); }
  template <class T>
  [[nodiscard]] static std::size_t bytes_of(Box box) {
    return static_cast<std::size_t>(box.cols) * sizeof(T);
  }

  // The box's first element; null where the box is refused. `most`: columns that the other end has.
  template <class T>
  [[nodiscard]] T* row(const char* what, WindowRef<T> window, Rank owner, Box box,
                       std::int64_t most) {
    if (!self().admits(what, window, owner, box, 1, most)) [[unlikely]]
      return nullptr;
    return self().memory_of(window, owner) + window.at(box.row, box.col);
  }
  template <class T>
  [[nodiscard]] T* row(const char* what, MemoryRef<T> memory, Rank /*self*/, Box box,
                       std::int64_t most) {
    if (!self().fits(what, memory.rows, memory.cols, box, 1, most)) [[unlikely]]
      return nullptr;
    return memory.data + memory.at(box.row, box.col);
  }

  // Null too where what this lane stores to the peer is lost.
  template <class T>
  [[nodiscard]] T* shown_row(WindowRef<T> to, Rank peer, Box box, std::int64_t most) {
    if (peer == self().rank()) return row("store", to, peer, box, most);
    T* const target = row("remote_store", to, peer, box, most);
    return self().silenced(peer) ? nullptr : target;
  }

  void write(void* to, const void* from, std::size_t bytes, bool around) {
    if (around) {
      stream(to, from, bytes);
      streams_ = true;
    } else {
      copy(to, from, bytes);
    }
  }

  bool streams_ = false;
};

}  // namespace muster::host::detail
