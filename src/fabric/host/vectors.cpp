// One source of every loop, compiled for each vector unit. A function may be inlined into one that
// may use more instructions, not the other way round: so what is shared stays what every processor
// can run, wherever the compiler leaves a copy of it.
#include "muster/fabric/host/vectors.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <cstring>
#include <memory>

namespace muster::host::detail {
namespace {

template <class Op, class Mine, class Theirs>
[[gnu::always_inline]] inline void combine_run(Mine* to, const Mine* mine, const Theirs* theirs,
                                               std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Op, Assign>)
      to[i] = convert<Mine>(theirs[i]);
    else
      to[i] = static_cast<Mine>(Op{}(mine[i], convert<Mine>(theirs[i])));
  }
}

// Stores of whole lines of the target, as in copy_all.
template <class Op, class Mine, class Theirs>
[[gnu::always_inline]] inline void combine_all(void* to, const void* mine, const void* theirs,
                                               std::int64_t count) {
  auto* target = static_cast<Mine*>(to);
  const auto* first = static_cast<const Mine*>(mine);
  const auto* second = static_cast<const Theirs*>(theirs);
  constexpr std::size_t line = 64;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % line;
  if (past != 0 && past % sizeof(Mine) == 0) {
    const auto head = static_cast<std::int64_t>((line - past) / sizeof(Mine));
    const std::int64_t begun = head < count ? head : count;
    combine_run<Op>(target, first, second, begun);
    target += begun;
    first += begun;
    second += begun;
    count -= begun;
  }
  combine_run<Op>(target, first, second, count);
}

using Line [[gnu::vector_size(64)]] = char;

[[gnu::always_inline]] inline void copy_line(char* to, const char* from) {
  Line line;
  std::memcpy(&line, from, sizeof(Line));
  std::memcpy(to, &line, sizeof(Line));
}

// Whole lines of the target, and before and behind them one that begins or ends where the copy
// does: a store across two lines takes several times as long as one within a line, a load does not.
[[gnu::always_inline]] inline void copy_all(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  if (bytes < sizeof(Line)) {
    for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
    return;
  }
  const std::size_t last = bytes - sizeof(Line);
  copy_line(target, source);
  std::size_t at = sizeof(Line) - reinterpret_cast<std::uintptr_t>(target) % sizeof(Line);
  for (; at + 4 * sizeof(Line) <= last; at += 4 * sizeof(Line)) {
    Line lines[4];
    std::memcpy(lines, source + at, sizeof(lines));
    std::memcpy(target + at, lines, sizeof(lines));
  }
  for (; at < last; at += sizeof(Line)) copy_line(target + at, source + at);
  copy_line(target + last, source + last);
}

struct Baseline {
  template <class Op, class Mine, class Theirs>
  static void combine(void* to, const void* mine, const void* theirs, std::int64_t count) {
    combine_all<Op, Mine, Theirs>(to, mine, theirs, count);
  }
  static void copy(void* to, const void* from, std::size_t bytes) { copy_all(to, from, bytes); }
};

#if defined(__x86_64__)
struct Avx2 {
  template <class Op, class Mine, class Theirs>
  [[gnu::target("avx2")]] static void combine(void* to, const void* mine, const void* theirs,
                                              std::int64_t count) {
    combine_all<Op, Mine, Theirs>(to, mine, theirs, count);
  }
  [[gnu::target("avx2")]] static void copy(void* to, const void* from, std::size_t bytes) {
    copy_all(to, from, bytes);
  }
};

struct Avx512 {
  template <class Op, class Mine, class Theirs>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]] static void combine(
      void* to, const void* mine, const void* theirs, std::int64_t count) {
    combine_all<Op, Mine, Theirs>(to, mine, theirs, count);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]] static void copy(
      void* to, const void* from, std::size_t bytes) {
    copy_all(to, from, bytes);
  }
};
#endif

template <class Unit, class Op, class Mine, class Theirs>
constexpr Loops::Combine loop_of(TypePair<Mine, Theirs> /*types*/) {
  if constexpr (has_loop<Mine, Theirs, Op>)
    return &Unit::template combine<Op, Mine, Theirs>;
  else
    return nullptr;
}
template <class Unit, class Op, class... Types>
constexpr void fill_row(Loops& all, TypeList<Types...> /*types*/) {
  int at = 0;
  ((all.combine[LoopOperators::index_of<Op>()][at++] = loop_of<Unit, Op>(Types{})), ...);
}
template <class Unit, class... Ops>
constexpr Loops loops_with(TypeList<Ops...> /*operators*/) {
  Loops all{};
  (fill_row<Unit, Ops>(all, LoopTypes{}), ...);
  all.copy = &Unit::copy;
  return all;
}

constexpr Loops baseline_loops = loops_with<Baseline>(LoopOperators{});
#if defined(__x86_64__)
constexpr Loops avx2_loops = loops_with<Avx2>(LoopOperators{});
constexpr Loops avx512_loops = loops_with<Avx512>(LoopOperators{});
#endif

}  // namespace

const Loops* loops_for(Vectors vectors) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (vectors == Vectors::avx2) return __builtin_cpu_supports("avx2") ? &avx2_loops : nullptr;
  if (vectors == Vectors::avx512) {
    const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return has ? &avx512_loops : nullptr;
  }
#endif
  return vectors == Vectors::baseline ? &baseline_loops : nullptr;
}

void stream(void* to, const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  // Whole lines alone go past the caches: parts of one take as long as all of it.
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % sizeof(Line);
  if (bytes >= head + sizeof(Line)) {
    loops->copy(target, source, head);
    target += head;
    source += head;
    bytes -= head;
    for (; bytes >= sizeof(Line); bytes -= sizeof(Line)) {
      for (std::size_t at = 0; at < sizeof(Line); at += sizeof(__m128i))
        _mm_stream_si128(reinterpret_cast<__m128i*>(target + at),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at)));
      source += sizeof(Line);
      target += sizeof(Line);
    }
  }
  loops->copy(target, source, bytes);
#else
  loops->copy(to, from, bytes);
#endif
}

void finish_stream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Constant at first, for what may run before this file's other objects are made.
constinit const Loops* loops = &baseline_loops;

namespace {
const Loops* widest() {
  for (const Vectors vectors : {Vectors::avx512, Vectors::avx2})
    if (const Loops* const found = loops_for(vectors); found != nullptr) return found;
  return &baseline_loops;
}
[[maybe_unused]] const bool chosen = (loops = widest(), true);
}  // namespace

}  // namespace muster::host::detail
