// What a lane of the host fabric sees of a window. Included by muster/fabric/host.hpp.
#pragma once

#include <cstdint>

#include "muster/types.hpp"

namespace muster::host {

// A rank's part of a window: element i of rows x cols, row-major.
template <class T>
class View {
 public:
  View(T* data, std::int64_t size) : data_(data), size_(size) {}
  [[nodiscard]] T& operator[](std::int64_t index) const { return data_[index]; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }

 private:
  T* data_;
  std::int64_t size_;
};

// A window as what is allocated is compared with it.
struct UntypedWindow {
  std::uint32_t segment;
  std::uint32_t team;
  std::uint64_t offset;
  std::int64_t rows;
  std::int64_t cols;
  std::uint64_t element;  // element_code
};

}  // namespace muster::host
