#include "net/round.hpp"

#include "net/bytes.hpp"

namespace muster::detail::net {

std::string Round::finish() {
  std::string bytes;
  for (auto& entry : entries_) {
    put_text(bytes, *entry);
    entry.reset();
  }
  come_ = 0;
  until_.reset();
  return bytes;
}

}  // namespace muster::detail::net
