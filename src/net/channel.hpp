// Frames over a stream socket between two who know the job's token. Nothing here blocks.
//
// A frame is a header (kind and length, 4 bytes each, little-endian), that many bytes, and a MAC of
// 32 bytes under this direction's key over the frame's number, its header and its bytes: who does
// not know the token can neither add, change, leave out nor repeat one; it can end the connection.
// Between a launcher and its own rank, over a pair of sockets that nobody else has, there is no
// MAC.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "muster/result.hpp"
#include "net/mac.hpp"

namespace muster::detail::net {

struct Frame {
  std::uint32_t kind = 0;
  std::string bytes;
};

struct Keys {
  Mac outgoing{};
  Mac incoming{};
};

class Channel {
 public:
  // `longest`: bytes of the longest frame that is taken from the other side.
  Channel(Fd connection, std::optional<Keys> keys, std::uint64_t longest);

  [[nodiscard]] int fd() const { return connection_.get(); }
  [[nodiscard]] bool is_open() const { return connection_.is_open(); }
  void close() { connection_.reset(); }

  // Takes the frame, and writes as much as the connection takes now.
  void send(std::uint32_t kind, std::string_view bytes);
  [[nodiscard]] bool has_more_to_send() const { return sent_ < out_.size(); }
  // Writes on; false where the other side is gone.
  bool flush();

  // The next frame, where one is complete. Reads what has come: is_open() is false afterwards where
  // the other side is gone or sent what is no frame of this job's, and why() says which.
  [[nodiscard]] std::optional<Frame> receive();
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  [[nodiscard]] std::optional<Frame> take();
  void read_more();
  void end(std::string why);

  Fd connection_;
  std::optional<Keys> keys_;
  std::uint64_t longest_;
  std::uint64_t frames_out_ = 0;
  std::uint64_t frames_in_ = 0;
  std::string out_;
  std::size_t sent_ = 0;
  std::string in_;
  std::string why_;
};

}  // namespace muster::detail::net
