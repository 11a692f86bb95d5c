#include "multihost/world.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

namespace muster::testing {

Namespaces::Namespaces(const std::string& name, const Words& shared)
    : holder_(Words{MUSTER_HOST_HOLDER, name} + shared) {
  EXPECT_TRUE(eventually([&] { return has_ended(holder_.pid()) || !holder_.out().empty(); }));
  there_ = holder_.out() == "ready\n";
}

Words Namespaces::enter(const Words& words) const {
  return Words{"nsenter", "--target=" + pid(), "--net", "--ipc", "--uts", "--mount", "--"} + words;
}

World::World(std::uint32_t hosts, Wire wire) : wire_(wire) {
  for (std::uint32_t host = 0; host < hosts && error_.empty(); ++host) {
    hosts_.push_back(std::make_unique<Namespaces>(name(host)));
    if (!hosts_.back()->are_there())
      error_ = "this machine allows no namespaces: " + hosts_.back()->why_not();
  }
  if (!error_.empty()) return;
  if (wire == Wire::bridge) {
    join_by_bridge();
  } else {
    join_by_relay();
  }
}

World::~World() {
  if (!pipe_.empty()) unlink(pipe_.c_str());
}

const std::string& World::why_not(Wire wire) {
  static const std::string none[] = {World(2, Wire::bridge).error_, World(2, Wire::relay).error_};
  return none[wire == Wire::bridge ? 0 : 1];
}

void World::must(const Words& words) {
  if (!error_.empty()) return;
  Command command(words);
  if (command.wait() != 0) error_ = words.back() + ": " + command.err();
}

void World::join_by_bridge() {
  middle_ = std::make_unique<Namespaces>("switch");
  std::string script = "set -e; ip link add br0 type bridge; ip link set br0 up\n";
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    const std::string port = "p" + std::to_string(host);
    script += "ip link add " + port + " type veth peer name eth0 netns " + hosts_[host]->pid() +
              "; ip link set " + port + " master br0 up\n";
  }
  must(middle_->enter({"sh", "-c", script}));
  for (std::uint32_t host = 0; host < hosts(); ++host)
    must(on(host,
            {"sh", "-c", "ip addr add " + address(host) + "/24 dev eth0 && ip link set eth0 up"}));
}

void World::join_by_relay() {
  pipe_ = ::testing::TempDir() + "muster_relay_" + std::to_string(getpid()) + "_" +
          hosts_.front()->pid();
  if (mkfifo(pipe_.c_str(), 0600) != 0) error_ = "mkfifo " + pipe_;
  Words words{MUSTER_TEST_RELAY, pipe_};
  for (const auto& host : hosts_) words.push_back(host->pid());
  relay_ = std::make_unique<Command>(words);
  EXPECT_TRUE(
      eventually([&] { return has_ended(relay_->pid()) || count(relay_->out(), "ready\n") > 0; }));
  if (count(relay_->out(), "ready\n") == 0) error_ = "no TUN devices: " + relay_->err();
}

void World::tell_relay(const std::string& line) {
  const Fd pipe(open(pipe_.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string text = line + "\n";
  EXPECT_EQ(write(pipe.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ++told_;
  EXPECT_TRUE(relay_->has_written("done\n", told_)) << relay_->err();
}

Words World::on(std::uint32_t host, const Words& words) const {
  return hosts_[host]->enter(words);
}

World::Traffic World::traffic(std::uint32_t host) const {
  const std::string folder =
      std::string("/sys/class/net/") + (wire_ == Wire::bridge ? "eth0" : "tun0") + "/statistics/";
  Command command(on(host, {"cat", folder + "rx_bytes", folder + "tx_bytes"}));
  EXPECT_EQ(command.wait(), 0) << command.err();
  std::istringstream numbers(command.out());
  Traffic traffic;
  numbers >> traffic.received >> traffic.sent;
  return traffic;
}

}  // namespace muster::testing
