// The lines of source that events stand in, with some around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/diagram.hpp"
#include "muster/check/report.hpp"

namespace muster::check {

struct SourceLine {
  std::uint32_t number = 0;
  std::string text;
  bool acts = false;   // an event stands here
  bool fails = false;  // one that fails, or lacks an edge
};

struct SourceFile {
  std::string file;  // as the compiler was told its name
  std::string name;  // its last part
  bool found = false;
  bool newer = false;             // it was changed after this program was built
  std::vector<SourceLine> lines;  // by number; with gaps, and without text where it was not found
};

// Of the files that the diagram's events stand in, in the order in which these first come. A file
// is read where it lies, or, where its name is relative, from this program's folder or one above.
[[nodiscard]] std::vector<SourceFile> source_of(const Diagram& diagram);

}  // namespace muster::check
