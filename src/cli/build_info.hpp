// What was decided when the program was configured.
#pragma once

namespace muster::cli {

extern const char* const version;  // "0.1.0"

// Why a part is not in this build; empty where it is.
extern const char* const without_gpu;
extern const char* const without_ucx;
extern const char* const without_check;

}  // namespace muster::cli
