#include "base/verify.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace muster {
namespace {

#if defined(NDEBUG)
constexpr bool debug_build = false;
#else
constexpr bool debug_build = true;
#endif

}  // namespace

Result<bool> verifies_by_default() {
  const char* const set = std::getenv("MUSTER_VERIFY");
  const std::string_view wish = set == nullptr ? "" : set;
  if (wish.empty()) return debug_build;
  if (wish == "1") return true;
  if (wish == "0") return false;
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("MUSTER_VERIFY is \"{}\"; it must be 1 (check) or 0 (do not check)", wish)};
}

}  // namespace muster
