// What the tests of litmus texts share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "litmus/enumerate.hpp"
#include "litmus/parse.hpp"

namespace muster::litmus {

// A test of threads P0 and P1 in one gpu, with locations and registers that begin with 0.
inline std::string two_threads(const std::string& rows, const std::string& condition,
                               unsigned second_cta = 1, unsigned second_gpu = 0) {
  return "PTX made\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta " + std::to_string(second_cta) +
         ",gpu " + std::to_string(second_gpu) + " ;\n" + rows + condition + "\n";
}

// Whether the condition of the text holds.
inline bool holds(const std::string& text) {
  const Result<Program> program = parse(text, "made");
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().what) << "\n" << text;
  return program && enumerate(*program).holds;
}

}  // namespace muster::litmus
