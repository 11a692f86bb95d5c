#include "net/pmix_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

namespace muster::detail::net {
namespace {

constexpr const char* name = "libpmix.so.2";

template <class Function>
bool look_up(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

std::optional<PmixLibrary> open_library() {
  // Never closed: it has threads of its own.
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  PmixLibrary pmix;
  const bool whole =
      look_up(library, "PMIx_Init", pmix.init) &&
      look_up(library, "PMIx_Finalize", pmix.finalize) && look_up(library, "PMIx_Put", pmix.put) &&
      look_up(library, "PMIx_Commit", pmix.commit) &&
      look_up(library, "PMIx_Fence_nb", pmix.fence) && look_up(library, "PMIx_Get", pmix.get) &&
      look_up(library, "PMIx_Get_nb", pmix.get_later) &&
      look_up(library, "PMIx_Error_string", pmix.error_string);
  return whole ? std::optional(pmix) : std::nullopt;
}

}  // namespace

Result<const PmixLibrary*> pmix_library() {
  static const std::optional<PmixLibrary> library = open_library();
  if (library) return &*library;
  return Error{
      ErrorCode::unavailable,
      fmt::format("{} cannot be opened, by which the launcher's ranks find each other", name)};
}

}  // namespace muster::detail::net
