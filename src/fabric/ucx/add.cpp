#include "fabric/ucx/add.hpp"

#include <cstdint>
#include <cstring>

#include "muster/fabric/host.hpp"
#include "muster/half.hpp"

namespace muster::ucx {
namespace {

template <class T>
void add_all(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T value{};
    std::memcpy(static_cast<void*>(&value), from + at, sizeof value);
    host::detail::atomic_add(*reinterpret_cast<T*>(to + at), value);
  }
}

}  // namespace

void add_numbers(std::byte* to, const std::byte* from, std::size_t bytes, Number number) {
  switch (number) {
    case Number::word8: return add_all<std::uint8_t>(to, from, bytes);
    case Number::word16: return add_all<std::uint16_t>(to, from, bytes);
    case Number::word32: return add_all<std::uint32_t>(to, from, bytes);
    case Number::word64: return add_all<std::uint64_t>(to, from, bytes);
    case Number::float32: return add_all<float>(to, from, bytes);
    case Number::float64: return add_all<double>(to, from, bytes);
    case Number::half: return add_all<float16>(to, from, bytes);
    case Number::brain: return add_all<bfloat16>(to, from, bytes);
  }
}

}  // namespace muster::ucx
