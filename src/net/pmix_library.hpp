// libpmix, opened where a launcher offers PMIx, so that a program that is started otherwise needs
// none. PMIx standard 4 (pmix-standard 4.1, sections 3 and 5).
#pragma once

#include <pmix.h>

#include "muster/result.hpp"

namespace muster::detail::net {

struct PmixLibrary {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence_nb) fence = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Get_nb) get_later = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
};

// Once for this process. Errors: unavailable, where there is no libpmix.so.2 here.
[[nodiscard]] Result<const PmixLibrary*> pmix_library();

}  // namespace muster::detail::net
