// `muster cost` against the closed forms: what it counts on the model is what the docstrings say.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace muster {
namespace {

using nlohmann::json;
using testing::Command;
using testing::muster;

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return muster(words);
}

// The cards of all ranks, which must agree: the first one.
json card(const std::vector<std::string>& arguments) {
  Command command(with({"cost", "--json"}, arguments));
  EXPECT_EQ(command.wait(), 0) << command.err();
  const json all = json::parse(command.out(), nullptr, false);
  EXPECT_TRUE(all.is_object()) << command.out();
  if (!all.is_object()) return {};
  const json first = all.at("per_rank").at(0);
  for (const json& one : all.at("per_rank")) EXPECT_EQ(one, first);
  return first;
}

json expected(std::uint64_t rounds, std::uint64_t notifies, std::uint64_t waits,
              std::uint64_t bytes, std::uint64_t own = 0) {
  return {{"rounds", rounds}, {"notifies", notifies}, {"notifies_to_itself", own},
          {"waits", waits},   {"flushes", 0},         {"bytes", bytes}};
}

// P ranks and B bytes; the bytes are those of a lane times the lanes.
TEST(Cost, ATransferMovesItsBytesAndNothingElse) {
  for (const std::uint64_t ranks : {2U, 5U})
    for (const std::uint64_t bytes : {8U, 4096U}) {
      const std::vector<std::string> shape{"-n", std::to_string(ranks), "--bytes",
                                           std::to_string(bytes)};
      for (const char* profile : {"direct", "rdma"})
        for (const char* name : {"put", "get", "remote_add"}) {
          std::vector<std::string> arguments{name, "--profile", profile};
          arguments.insert(arguments.end(), shape.begin(), shape.end());
          EXPECT_EQ(card(arguments), expected(0, 0, 0, bytes)) << name << ' ' << profile;
        }
    }
}

TEST(Cost, APutSignalIsOneDepositAndOneWait) {
  EXPECT_EQ(card({"put_signal", "-n", "4", "--bytes", "64K"}), expected(1, 1, 1, 65536));
  EXPECT_EQ(card({"put_signal", "-n", "3", "--lanes", "2", "--bytes", "8"}), expected(1, 2, 2, 16));
}

TEST(Cost, APacketExchangeIsATileForEachPeer) {
  for (const std::uint64_t ranks : {2U, 3U, 8U})
    for (const std::uint64_t bytes : {8U, 512U, 8192U})
      EXPECT_EQ(
          card({"packet_exchange", "-n", std::to_string(ranks), "--bytes", std::to_string(bytes)}),
          expected(1, 0, ranks - 1, (ranks - 1) * bytes));
}

TEST(Cost, BarriersMoveNothing) {
  EXPECT_EQ(card({"epoch_barrier", "-n", "5"}), expected(1, 4, 4, 0));
  EXPECT_EQ(card({"credit_barrier", "-n", "5"}), expected(1, 4, 4, 0, 4));
  EXPECT_EQ(card({"dissemination_barrier", "-n", "5"}), expected(3, 3, 3, 0));
}

// P ranks that each have n bytes, in one piece; n is a multiple of 16 P, so that shares are equal.
// The rounds of a ring differ from rank to rank.
TEST(Cost, CollectivesAreWhatTheirHeadersSay) {
  struct Form {
    const char* name;
    std::uint64_t notifies;  // times P-1
    std::uint64_t bytes;     // times (P-1) n / P, where `parts`; times (P-1) n elsewhere
    bool parts;
  };
  const Form forms[] = {
      {"all_reduce/one_shot", 1, 1, false}, {"all_reduce/two_phase", 2, 2, true},
      {"all_reduce/direct", 2, 2, true},    {"all_reduce/ring", 4, 2, true},
      {"reduce_scatter", 1, 1, false},      {"all_gather", 1, 1, false},
      {"all_to_all", 1, 1, false},
  };
  for (std::uint64_t ranks = 2; ranks <= 9; ++ranks) {
    const std::uint64_t n = 32 * ranks;
    for (const Form& form : forms) {
      Command command(with({"cost", "--json"},
                           {form.name, "-n", std::to_string(ranks), "--bytes", std::to_string(n)}));
      ASSERT_EQ(command.wait(), 0) << command.err();
      const json all = json::parse(command.out());
      for (const json& one : all.at("per_rank")) {
        EXPECT_EQ(one.at("notifies"), form.notifies * (ranks - 1)) << form.name << ' ' << ranks;
        EXPECT_EQ(one.at("waits"), form.notifies * (ranks - 1)) << form.name << ' ' << ranks;
        EXPECT_EQ(one.at("bytes"), form.bytes * (ranks - 1) * n / (form.parts ? ranks : 1))
            << form.name << ' ' << ranks;
      }
    }
  }
}

// Packets go whole, 60 bytes each, every one waited for; nothing else is told.
TEST(Cost, AllReduceInPacketsIsTheirTiles) {
  for (std::uint64_t ranks = 2; ranks <= 9; ++ranks)
    for (const std::uint64_t tiles : {1U, 3U}) {
      const std::string bytes = std::to_string(60 * tiles - 8);
      EXPECT_EQ(card({"all_reduce/packets", "-n", std::to_string(ranks), "--bytes", bytes}),
                expected(1, 0, tiles * (ranks - 1), 60 * tiles * (ranks - 1)))
          << ranks;
    }
}

// P ranks that each have n bytes, in one message, with rank 0 for a root; the bytes of a part where
// there is one for each rank.
TEST(Cost, CollectivesWithARootAreWhatTheirHeadersSay) {
  struct Form {
    const char* name;
    bool to_root;
  };
  for (std::uint64_t ranks = 2; ranks <= 9; ++ranks)
    for (const Form form : {Form{"broadcast", false}, Form{"reduce", true}, Form{"gather", true},
                            Form{"scatter", false}}) {
      Command command(
          with({"cost", "--json"}, {form.name, "-n", std::to_string(ranks), "--bytes", "96"}));
      ASSERT_EQ(command.wait(), 0) << command.err();
      const json all = json::parse(command.out());
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const json& one = all.at("per_rank").at(rank);
        const std::uint64_t partners = rank == 0 ? ranks - 1 : 1;
        // One message and one answer with each; whoever reads moves the bytes.
        EXPECT_EQ(one.at("notifies"), partners) << form.name << ' ' << ranks << ' ' << rank;
        EXPECT_EQ(one.at("waits"), partners) << form.name << ' ' << ranks << ' ' << rank;
        EXPECT_EQ(one.at("bytes"), (rank == 0) == form.to_root ? 96 * partners : 0)
            << form.name << ' ' << ranks << ' ' << rank;
      }
    }
}

// As those without a V, and a round more, in which P-1 rows of 2 P + 4 counts are read.
TEST(Cost, CountsAreARoundOfTheirOwn) {
  for (std::uint64_t ranks = 2; ranks <= 9; ++ranks)
    for (const char* name : {"all_to_all_v", "all_gather_v", "reduce_scatter_v"})
      EXPECT_EQ(
          card({name, "-n", std::to_string(ranks), "--bytes", "96"}),
          expected(2, 2 * (ranks - 1), 2 * (ranks - 1), (ranks - 1) * (96 + 8 * (2 * ranks + 4))))
          << name << ' ' << ranks;
}

// As many deposits to the own rank as waits, which take the credits back.
TEST(Cost, CreditsAreTakenBack) {
  for (std::uint64_t ranks = 2; ranks <= 9; ++ranks) {
    const std::uint64_t peers = ranks - 1;
    EXPECT_EQ(card({"all_reduce/one_shot_credits", "-n", std::to_string(ranks), "--bytes", "96"}),
              expected(1, peers, peers, peers * 96, peers));
    Command command(with({"cost", "--json"},
                         {"broadcast_credits", "-n", std::to_string(ranks), "--bytes", "96"}));
    ASSERT_EQ(command.wait(), 0) << command.err();
    const json all = json::parse(command.out());
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const json& one = all.at("per_rank").at(rank);
      const std::uint64_t partners = rank == 0 ? peers : 1;
      EXPECT_EQ(one.at("notifies"), partners) << ranks << ' ' << rank;
      EXPECT_EQ(one.at("notifies_to_itself"), partners) << ranks << ' ' << rank;
      EXPECT_EQ(one.at("waits"), partners) << ranks << ' ' << rank;
    }
  }
}

// A message each way, an answer for each, and 16 bytes for the count and the lanes.
TEST(Cost, SendAndReceiveAreTwoNotifiesAndTwoWaits) {
  for (std::uint64_t ranks = 2; ranks <= 9; ++ranks) {
    Command command(
        with({"cost", "--json"}, {"send_receive", "-n", std::to_string(ranks), "--bytes", "96"}));
    ASSERT_EQ(command.wait(), 0) << command.err();
    for (const json& one : json::parse(command.out()).at("per_rank")) {
      EXPECT_EQ(one.at("notifies"), 2);
      EXPECT_EQ(one.at("waits"), 2);
      EXPECT_EQ(one.at("bytes"), 96 + 16);
    }
  }
}

TEST(Cost, TheTableNamesTheSize) {
  Command command(muster({"cost", "put", "-n", "2"}));
  ASSERT_EQ(command.wait(), 0) << command.err();
  EXPECT_NE(command.out().find("put: one call of 1024 B, 2 ranks"), std::string::npos)
      << command.out();
  EXPECT_NE(command.out().find("1024\n"), std::string::npos) << command.out();
}

struct Wrong {
  std::vector<std::string> arguments;
  int status;
  const char* says;
  friend void PrintTo(const Wrong& wrong, std::ostream* out) {
    for (const std::string& word : wrong.arguments) *out << word << ' ';
  }
};

class WrongCost : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongCost, IsAClearError) {
  Command command(with({"cost"}, GetParam().arguments));
  EXPECT_EQ(command.wait(), GetParam().status);
  EXPECT_NE(command.err().find(GetParam().says), std::string::npos) << command.err();
  EXPECT_EQ(command.out(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, WrongCost,
    ::testing::Values(
        Wrong{{}, 2, "name"},
        Wrong{{"nonsense"}, 2, "there is no protocol 'nonsense'; there are put"},
        Wrong{{"put", "--bytes", "6"}, 2, "--bytes: '6' is not a multiple of 4"},
        Wrong{{"put", "--bytes", "lots"}, 2, "--bytes: 'lots' is not a size"},
        Wrong{{"put", "--bytes", "-8"}, 2, "'-8' is not a size"},
        Wrong{{"put", "--bytes", "2M"}, 2, "--bytes is '2M' for put; the model counts up to 1M"},
        Wrong{{"put", "--bytes", "1M", "-n", "200"}, 2, "the model holds up to 64M in all"},
        Wrong{{"packet_exchange", "--bytes", "12"}, 2, "a power of two from 8 to 8K"},
        Wrong{{"epoch_barrier", "--bytes", "8"}, 2, "epoch_barrier has no size to choose; put"},
        Wrong{{"put", "-n", "0"}, 2, "Value 0 not in range 1 to 256"},
        Wrong{{"put", "--lanes", "65"}, 2, "Value 65 not in range 1 to 64"},
        Wrong{{"put", "--profile", "tin"}, 2, "--profile is 'tin'; it must be sc, direct or rdma"},
        Wrong{{"broken/set_epilogue"}, 1, "is not correct here"}));

}  // namespace
}  // namespace muster
