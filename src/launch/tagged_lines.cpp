#include "launch/tagged_lines.hpp"

namespace muster::launcher {

void TaggedLines::emit(std::string_view rest_of_line, std::string& to) {
  to += tag_;
  to += partial_;
  to += rest_of_line;
  to += '\n';
  partial_.clear();
}

void TaggedLines::add(std::string_view data, std::string& to) {
  for (auto newline = data.find('\n'); newline != std::string_view::npos;
       newline = data.find('\n')) {
    emit(data.substr(0, newline), to);
    data.remove_prefix(newline + 1);
  }
  while (partial_.size() + data.size() > longest_line) {
    const std::size_t piece = longest_line - partial_.size();
    emit(data.substr(0, piece), to);
    data.remove_prefix(piece);
  }
  partial_ += data;
}

void TaggedLines::end(std::string& to) {
  if (!partial_.empty()) emit({}, to);
}

}  // namespace muster::launcher
