// What every fabric shares.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/compare.hpp"
#include "base/descriptor_message.hpp"
#include "base/verify.hpp"

namespace muster {
namespace {

// The symbol says what satisfies() does.
TEST(Symbols, AreThoseOfTheComparisons) {
  const auto holds = [](const std::string& symbol, int a, int b) {
    const bool equal = symbol == "==" || symbol == ">=" || symbol == "<=";
    if (a == b) return equal;
    return symbol == "!=" || (a > b ? symbol[0] == '>' : symbol[0] == '<');
  };
  for (const Compare compare :
       {Compare::eq, Compare::ne, Compare::ge, Compare::gt, Compare::le, Compare::lt})
    for (const std::uint32_t seen : {4U, 5U, 6U})
      EXPECT_EQ(satisfies(seen, compare, 5), holds(symbol_of(compare), static_cast<int>(seen), 5))
          << seen << " " << symbol_of(compare) << " 5";
}

class Verify : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("MUSTER_VERIFY"); }
};

TEST_F(Verify, IsOneOrZero) {
  setenv("MUSTER_VERIFY", "1", 1);
  EXPECT_TRUE(verifies_by_default().value());
  setenv("MUSTER_VERIFY", "0", 1);
  EXPECT_FALSE(verifies_by_default().value());
}

TEST_F(Verify, IsTheBuildsWhereItIsNotSet) {
#if defined(NDEBUG)
  constexpr bool debug = false;
#else
  constexpr bool debug = true;
#endif
  unsetenv("MUSTER_VERIFY");
  EXPECT_EQ(verifies_by_default().value(), debug);
  setenv("MUSTER_VERIFY", "", 1);
  EXPECT_EQ(verifies_by_default().value(), debug);
}

TEST_F(Verify, IsNothingElse) {
  for (const char* const wrong : {"yes", "2", "true", " 1", "off"}) {
    setenv("MUSTER_VERIFY", wrong, 1);
    const auto asked = verifies_by_default();
    ASSERT_FALSE(asked.has_value()) << wrong;
    EXPECT_EQ(asked.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(asked.error().what.find(std::string("MUSTER_VERIFY is \"") + wrong),
              std::string::npos)
        << asked.error().what;
  }
}

class Descriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    here_ = Fd(ends[0]);
    there_ = Fd(ends[1]);
  }
  Fd here_;
  Fd there_;
};

TEST_F(Descriptors, ComeBesideTheirBytes) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const Fd reader(pipe_ends[0]);
  const Fd writer(pipe_ends[1]);
  ASSERT_EQ(send_with_descriptor(here_.get(), "hello", 5, writer.get()), 5);
  std::array<char, 16> bytes{};
  const DescriptorMessage message =
      receive_with_descriptor(there_.get(), bytes.data(), bytes.size());
  ASSERT_EQ(message.bytes, 5);
  EXPECT_STREQ(bytes.data(), "hello");
  EXPECT_FALSE(message.lacked_room);
  ASSERT_EQ(write(message.descriptor.get(), "x", 1), 1);
  char byte = 0;
  ASSERT_EQ(read(reader.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(Descriptors, NoneIsNone) {
  ASSERT_EQ(send(here_.get(), "hello", 5, 0), 5);
  std::array<char, 16> bytes{};
  const DescriptorMessage message =
      receive_with_descriptor(there_.get(), bytes.data(), bytes.size());
  EXPECT_EQ(message.bytes, 5);
  EXPECT_FALSE(message.descriptor.is_open());
  EXPECT_FALSE(message.lacked_room);
}

// Whoever has used up what it may open is told so, and not that the sender has gone.
TEST_F(Descriptors, OneThatThereIsNoRoomForIsSaidToHaveCome) {
  ASSERT_EQ(send_with_descriptor(here_.get(), "x", 1, here_.get()), 1);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit none = old;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  char byte = 0;
  const DescriptorMessage message = receive_with_descriptor(there_.get(), &byte, 1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(message.bytes, 1);
  EXPECT_TRUE(message.lacked_room);
  EXPECT_FALSE(message.descriptor.is_open());
}

}  // namespace
}  // namespace muster
