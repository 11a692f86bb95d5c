// Tests that others wrote, where they lie on this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include "litmus/suite.hpp"

namespace muster::litmus {

// All of them. None where there is no such directory, which is said; the caller skips then.
inline std::vector<std::filesystem::path> shared_tests() {
  const char* named = std::getenv("MUSTER_LITMUS_TESTS");
  const std::filesystem::path directory = named != nullptr ? named : MUSTER_LITMUS_TESTS;
  if (!std::filesystem::is_directory(directory)) {
    std::cout << "SKIPPED: there is no directory " << directory << " (MUSTER_LITMUS_TESTS)\n";
    return {};
  }
  const auto files = collect({directory.string()});
  if (files) return *files;
  ADD_FAILURE() << files.error().what;
  return {};
}

}  // namespace muster::litmus
