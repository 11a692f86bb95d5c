// Several hosts on this one: each a set of namespaces (network, IPC, UTS, mounts), joined by wires.
// Everything vanishes with the processes that hold it: nothing is left in /run/netns, and no
// interface of this machine's own network is touched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace muster::testing {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// How the hosts are joined.
enum class Wire {
  bridge,  // pairs of virtual Ethernet devices, by iproute2, and a bridge in namespaces of its own
  relay,   // TUN devices, and a program between them that cuts, delays, loses (relay.cpp)
};

// Namespaces, alive as long as this.
class Namespaces {
 public:
  // Those of `shared` (net, ipc, uts) are not its own.
  explicit Namespaces(const std::string& name, const Words& shared = {});

  [[nodiscard]] bool are_there() const { return there_; }
  [[nodiscard]] std::string why_not() const { return holder_.err(); }
  [[nodiscard]] std::string pid() const { return std::to_string(holder_.pid()); }
  // A command in them.
  [[nodiscard]] Words enter(const Words& words) const;

 private:
  Command holder_;
  bool there_ = false;
};

class World {
 public:
  // Host h has the name "h0", "h1", ... and the address 10.77.0.h+1.
  World(std::uint32_t hosts, Wire wire);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Why there are no hosts here, for GTEST_SKIP; empty where there are. Tried once in a process.
  [[nodiscard]] static const std::string& why_not(Wire wire);

  [[nodiscard]] std::uint32_t hosts() const { return static_cast<std::uint32_t>(hosts_.size()); }
  [[nodiscard]] static std::string name(std::uint32_t host) { return "h" + std::to_string(host); }
  [[nodiscard]] static std::string address(std::uint32_t host) {
    return "10.77.0." + std::to_string(host + 1);
  }

  // A command on a host.
  [[nodiscard]] Words on(std::uint32_t host, const Words& words) const;

  // Bytes that the host's interface to the others has received and sent.
  struct Traffic {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
  };
  [[nodiscard]] Traffic traffic(std::uint32_t host) const;

  // With Wire::relay: a line for the relay ("cut 0 1"), which has done it when this returns.
  void tell_relay(const std::string& line);

 private:
  void join_by_bridge();
  void join_by_relay();
  void must(const Words& words);

  std::vector<std::unique_ptr<Namespaces>> hosts_;
  std::unique_ptr<Namespaces> middle_;  // has the bridge
  std::unique_ptr<Command> relay_;
  std::string pipe_;  // to the relay
  int told_ = 0;
  Wire wire_;
  std::string error_;  // the first thing that is not allowed here
};

}  // namespace muster::testing
