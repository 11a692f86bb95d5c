// Which way a race is told: what is missing leads from the access of the earlier call to that of
// the later one, whichever of them the execution happened to make first.
#include <string>

#include "check/asking.hpp"

namespace muster::check {
namespace {

enum class Read : std::uint8_t { local, load, address, remote_load, get, get_async };
enum class Write : std::uint8_t {
  local,
  store,
  address,
  remote_store,
  remote_add,
  put,
  put_async,
  put_signal
};

constexpr Read near_reads[] = {Read::local, Read::load};
constexpr Read far_reads[] = {Read::address, Read::remote_load, Read::get, Read::get_async};
constexpr Write near_writes[] = {Write::local, Write::store};
constexpr Write far_writes[] = {Write::address, Write::remote_store, Write::remote_add,
                                Write::put,     Write::put_async,    Write::put_signal};

// What the reader leaves out, or the writer.
enum class Fault : std::uint8_t {
  none,
  never_says,     // the reader does not say that it has read
  says_too_soon,  // ... or before it has
  told_too_soon,  // the writer says so before it has written
};

struct Case {
  Rank reader;
  Rank writer;
  bool near;  // the data lies with the reader
  Read read;
  Write write;
  Fault fault;
};

struct Cells {
  WindowRef<int> data;
  WindowRef<int> own;
  Signals told;
};

template <class F>
void do_read(F& fabric, const Case& how, const Cells& at) {
  auto tile = fabric.template tile<int, 1, 1>();
  const Box box{0, 0, 1, 1};
  switch (how.read) {
    case Read::local: (void)static_cast<int>(fabric.local(at.data)[0]); break;
    case Read::load: fabric.load(tile, at.data, box); break;
    case Read::address: (void)static_cast<int>(fabric.address(at.data, how.writer)[0]); break;
    case Read::remote_load: (void)fabric.remote_load(tile, at.data, how.writer, box); break;
    case Read::get: (void)fabric.get(at.own, 0, at.data, how.writer, 0, 1); break;
    case Read::get_async:
      fabric.get_async(at.own, 0, at.data, how.writer, 0, 1);
      (void)fabric.flush();
      break;
  }
  fabric.converge();
}

template <class F>
void do_write(F& fabric, const Case& how, const Cells& at, std::uint32_t call) {
  auto tile = fabric.template tile<int, 1, 1>();
  const Box box{0, 0, 1, 1};
  switch (how.write) {
    case Write::local: fabric.local(at.data)[0] = 1; break;
    case Write::store: fabric.store(tile, at.data, box); break;
    case Write::address: fabric.address(at.data, how.reader)[0] = 1; break;
    case Write::remote_store: fabric.remote_store(tile, at.data, how.reader, box); break;
    case Write::remote_add: fabric.remote_add(tile, at.data, how.reader, box); break;
    case Write::put: fabric.put(at.data, how.reader, 0, at.own, 0, 1); break;
    case Write::put_async:
      fabric.put_async(at.data, how.reader, 0, at.own, 0, 1);
      (void)fabric.flush();
      break;
    case Write::put_signal:
      fabric.put_signal(at.data, how.reader, 0, at.own, 0, 1, at.told[0], call, NotifyOp::set);
      break;
  }
  fabric.converge();
}

constexpr std::uint32_t calls = 3;

Program program(const Case& how) {
  return [how](model::Team& team) {
    const Cells at{*team.window<int>({1}, "data"), *team.window<int>({1}, "own"), *team.signals(2)};
    (void)team.lane([&](auto& fabric) {
      const auto say = [&](std::uint32_t cell, Rank to, std::uint32_t call) {
        fabric.notify(at.told[cell], to, call, NotifyOp::set);
      };
      for (std::uint32_t call = 1; call <= calls; ++call) {
        if (fabric.rank() == how.writer) {
          const bool waits = how.fault != Fault::never_says && call > 1;
          if (waits && fabric.wait(at.told[1], Compare::ge, call - 1) != WaitStatus::ok) return;
          if (how.fault == Fault::told_too_soon) say(0, how.reader, call);
          (void)fabric.flush();  // its own writes are in order
          do_write(fabric, how, at, call);
          if (how.fault != Fault::told_too_soon && how.write != Write::put_signal)
            say(0, how.reader, call);
        } else {
          if (fabric.wait(at.told[0], Compare::ge, call) != WaitStatus::ok) return;
          if (how.fault == Fault::says_too_soon) say(1, how.writer, call);
          do_read(fabric, how, at);
          if (how.fault == Fault::none || how.fault == Fault::told_too_soon)
            say(1, how.writer, call);
        }
      }
    });
  };
}

bool can(Profile profile, const Case& how) {
  const bool addresses = how.read == Read::address || how.write == Write::address;
  return profile != Profile::rdma || !addresses;
}

template <class Visit>
void each_case(Fault fault, Visit&& visit) {
  for (const bool reader_first : {true, false}) {
    const Rank reader{reader_first ? 0U : 1U};
    const Rank writer{reader_first ? 1U : 0U};
    for (const Read read : near_reads)
      for (const Write write : far_writes) visit(Case{reader, writer, true, read, write, fault});
    for (const Read read : far_reads)
      for (const Write write : near_writes) visit(Case{reader, writer, false, read, write, fault});
  }
}

std::string words(const Case& how, Profile profile) {
  return std::string(name_of(profile)) + ", reader " + std::to_string(how.reader.value) +
         ", read " + std::to_string(static_cast<int>(how.read)) + ", write " +
         std::to_string(static_cast<int>(how.write));
}

template <class Check>
void each_report(Fault fault, Check&& check) {
  for (const Profile profile : {Profile::sc, Profile::direct, Profile::rdma})
    each_case(fault, [&](const Case& how) {
      if (!can(profile, how)) return;
      const Report report = explore(options_for(2, profile), program(how));
      SCOPED_TRACE(words(how, profile) + ": " + told(report) +
                   (report.findings.empty() ? "" : "\n  " + report.findings[0].missing));
      check(how, report);
    });
}

TEST(Direction, TheProgramsAreRightWithoutTheirFault) {
  each_report(Fault::none,
              [](const Case&, const Report& report) { EXPECT_VERDICT(report, certified); });
}

TEST(Direction, AReadThatTheNextCallOvertakesIsMissingAnAnswer) {
  for (const Fault fault : {Fault::never_says, Fault::says_too_soon})
    each_report(fault, [](const Case& how, const Report& report) {
      ASSERT_TRUE(report.has(Kind::race));
      const Finding& race = report.findings.front();
      const std::string reader = "rank " + std::to_string(how.reader.value);
      EXPECT_TRUE(race.missing.starts_with("it is written again before " + reader +
                                           ", which reads it, has said that it has: "));
      EXPECT_EQ(race.missing.find("on the way to " + reader), std::string::npos);
      EXPECT_NE(race.what.find("(1st time, races_test.cpp:"), std::string::npos);
    });
}

// The same call's: nothing is written again.
TEST(Direction, AReadThatIsToldTooSoonIsMissingTheWrite) {
  each_report(Fault::told_too_soon, [](const Case& how, const Report& report) {
    if (how.write == Write::put_signal) return;  // it tells by itself
    ASSERT_TRUE(report.has(Kind::race));
    EXPECT_EQ(report.findings.front().missing.find("written again"), std::string::npos);
    EXPECT_EQ(report.findings.front().what.find(" time, "), std::string::npos);
  });
}

}  // namespace
}  // namespace muster::check
