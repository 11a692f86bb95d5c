// What is not a test of this model, or no test at all, is refused by name and place.
#include <gtest/gtest.h>

#include <string>

#include "litmus/text.hpp"

namespace muster::litmus {
namespace {

std::string said(const std::string& text) {
  const Result<Program> program = parse(text, "made.litmus");
  return program ? "" : program.error().what;
}

// Of an instruction in the third line, behind one blank.
std::string said_of(const std::string& instruction) {
  return said("PTX made\n{ x=0; y=0; P0:r9=0; }\nP0@cta 0,gpu 0 ;\n " + instruction +
              " ;\nexists (x == 0)\n");
}

#define EXPECT_SAYS(text, what) EXPECT_NE((text).find(what), std::string::npos) << (text)

TEST(LitmusRefusal, NamesThePlace) {
  EXPECT_SAYS(said_of("ld.weak r0 x"),
              "made.litmus:4:13: 'x' where ',' between operands was to come");
}

TEST(LitmusRefusal, Instructions) {
  EXPECT_SAYS(said_of("ldu.weak r0, x"),
              "there is no instruction 'ldu.weak' here; there are ld, st");
  EXPECT_SAYS(said_of("ld.relaxed r0, x"), "'ld.relaxed' lacks the scope: .cta, .gpu, .sys");
  EXPECT_SAYS(said_of("ld r0, x"), "'ld' lacks the order: .acquire, .relaxed, .weak");
  EXPECT_SAYS(said_of("ld.release.gpu r0, x"), "'.release' in 'ld.release.gpu' is not known here");
  EXPECT_SAYS(said_of("atom.relaxed.gpu.inc r0, x, 1"), "'.inc' in");
  EXPECT_SAYS(said_of("red.relaxed.gpu.cas x, 0, 1"), "red has no cas; write atom");
}

TEST(LitmusRefusal, WhatTheModelLacks) {
  EXPECT_SAYS(said_of("fence.proxy.alias"), "the model has no proxies");
  EXPECT_SAYS(said_of("ld.weak.v2 r0, x"), "the model has no vectors");
  EXPECT_SAYS(said_of("ld.relaxed.cluster r0, x"), "the model has no clusters");
  EXPECT_SAYS(said_of("ld.weak.u32 r0, x"), "sizes and types are not mixed");
  EXPECT_SAYS(said_of("ld.constant r0, x"), "'.constant'");
  EXPECT_SAYS(said("PTX made\n{ x=0; y @ generic aliases x; }\n"),
              "made.litmus:2:10: 'y' is an alias");
}

TEST(LitmusRefusal, ProxiesAndQuorums) {
  EXPECT_SAYS(said_of("suld.weak r0, x"), "the model has no proxies");
  EXPECT_SAYS(said_of("bar.cta.sync 1, 1, 4"), "'bar.cta.sync' has a third operand");
}

TEST(LitmusRefusal, LocationsAndRegistersAreNotMixedUp) {
  EXPECT_SAYS(said_of("st.weak x, y"), "'y' is a location: only ld, st, atom and red reach it");
  EXPECT_SAYS(said_of("ld.weak r0, r9"), "'r9' is a register of this thread");
}

TEST(LitmusRefusal, Labels) {
  EXPECT_SAYS(said_of("goto END"), "made.litmus:4:7: P0 has no label 'END'");
  EXPECT_SAYS(said_of("A: A: st.weak x, 1"), "label 'A' is there twice");
}

TEST(LitmusRefusal, Frames) {
  EXPECT_SAYS(said("X86 SB\n"), "made.litmus:1:1: the file begins with 'X86'");
  EXPECT_SAYS(said("PTX\n"), "PTX has no name");
  EXPECT_SAYS(said("PTX a\n{ x=0 "), "the end of the file where ';' or '}'");
  EXPECT_SAYS(said("PTX a\n{ x=z; }"), "the initial value of x is 'z'; it must be a whole number");
  EXPECT_SAYS(said("PTX a\n{ x=99999999999999999999; }"), "a whole number of 64 bits");
  EXPECT_SAYS(said("PTX a\n{ x=0; y=1; x=1; }"),
              "made.litmus:2:13: x has an initial value already; there is one for each");
  EXPECT_SAYS(said("PTX a\n{ P0:r0=1; P1:r0=1; P0:r0=1; }"),
              "made.litmus:2:24: P0:r0 has an initial value already");
  EXPECT_SAYS(said("PTX a\n\"no end"), "the description has no end");
  EXPECT_SAYS(said("PTX a\n{ }\nP1@cta 0,gpu 0 ;"), "'P1' where thread P0 was to come");
  EXPECT_SAYS(said("PTX a\n{ P3:r0=0; }\nP0@cta 0,gpu 0 ;"), "initial values name P3");
  EXPECT_SAYS(said("PTX a\n{ }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 ;\n"),
              "'|' behind the cell of P0 (a row has 2 cells)");
}

TEST(LitmusRefusal, Conditions) {
  const std::string head = "PTX a\n{ x=0; }\nP0@cta 0,gpu 0 ;\n ld.weak r0, x ;\n";
  EXPECT_EQ(said(head + "exists (P0:r0 == 0)"), "");
  EXPECT_SAYS(said(head), "the end of the file where an instruction was to come");
  EXPECT_SAYS(said(head + "filter (x == 0)"), "'filter' where the condition was to come");
  EXPECT_SAYS(said(head + "exists (P0:r7 == 0)"), "P0 has no register 'r7'");
  EXPECT_SAYS(said(head + "exists (P4:r0 == 0)"),
              "the condition names thread 'P4'; the last is P0");
  EXPECT_SAYS(said(head + "exists (z == 0)"), "there is no location 'z'");
  EXPECT_SAYS(said(head + "exists (x + 0)"), "'+' where a comparison was to come");
  EXPECT_SAYS(said(head + "exists (x == 0) (x == 1)"), "'(' behind the condition");
  const auto nested = [&](std::size_t depth) {
    return said(head + "exists " + std::string(depth, '(') + "x == 0" + std::string(depth, ')'));
  };
  EXPECT_EQ(nested(900), "");
  EXPECT_SAYS(nested(100'000), "made.litmus:5:");
  EXPECT_SAYS(nested(100'000), "nested more than 1000 deep");
  EXPECT_SAYS(said(head + "exists " + std::string(100'000, '~') + "x == 0"), "nested more than");
}

}  // namespace
}  // namespace muster::litmus
