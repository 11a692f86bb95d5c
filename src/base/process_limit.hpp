// Why the system starts no further process or thread.
#pragma once

#include <string>

namespace muster {

// What to say behind strerror(code), the error of fork or of a thread: " (ulimit -u allows ...)".
// Empty where the error has nothing to do with how many there are.
[[nodiscard]] std::string note_on_processes(int code);

}  // namespace muster
