// What lies in a directory: of /proc, what a process has left open; of /dev/shm, what it left
// there.
#pragma once

#include <dirent.h>

#include <set>
#include <string>

namespace muster::testing {

[[nodiscard]] inline std::set<std::string> entries_of(const std::string& directory) {
  std::set<std::string> names;
  if (DIR* open = opendir(directory.c_str())) {
    while (const dirent* entry = readdir(open))
      if (entry->d_name[0] != '.') names.insert(entry->d_name);
    closedir(open);
  }
  return names;
}

// The names of shared memory that muster could have made. It makes none; other programs, an MPI
// that runs beside the test, do.
[[nodiscard]] inline std::set<std::string> shared_memory_of_muster() {
  std::set<std::string> names = entries_of("/dev/shm");
  std::erase_if(names,
                [](const std::string& name) { return name.find("muster") == std::string::npos; });
  return names;
}

}  // namespace muster::testing
