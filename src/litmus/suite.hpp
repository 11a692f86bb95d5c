// Litmus tests as they lie in directories, and the verdicts that are known of them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "litmus/program.hpp"
#include "muster/result.hpp"

namespace muster::litmus {

// `paths` with each directory replaced by the *.litmus files in and below it, by name. A path that
// is not there, and a directory without one, is an error.
[[nodiscard]] Result<std::vector<std::filesystem::path>> collect(
    const std::vector<std::string>& paths);

[[nodiscard]] Result<Program> load(const std::filesystem::path& file);

// What is known of the file: whether its condition holds. From `expected.csv` beside it, whose
// lines are "NAME.litmus,1" (it holds) or "NAME.litmus,0"; nothing where there is none or it does
// not name it.
[[nodiscard]] Result<std::optional<bool>> expectation(const std::filesystem::path& file);

}  // namespace muster::litmus
