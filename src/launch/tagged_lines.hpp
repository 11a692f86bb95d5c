// Turns a stream of bytes into lines that start with the rank they came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::launcher {

class TaggedLines {
 public:
  // What a line may hold before it is passed on in pieces, so that memory stays bounded.
  static constexpr std::size_t longest_line = std::size_t{1} << 20U;

  explicit TaggedLines(std::uint32_t rank) : tag_("[" + std::to_string(rank) + "] ") {}

  // Appends to `to` each line that `data` completes: tag, text, newline.
  void add(std::string_view data, std::string& to);

  // The stream is over: a last line without a newline is passed on with one.
  void end(std::string& to);

 private:
  void emit(std::string_view rest_of_line, std::string& to);

  std::string tag_;
  std::string partial_;
};

}  // namespace muster::launcher
