#include "net/channel.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/bytes.hpp"

namespace muster::detail::net {
namespace {

constexpr std::size_t header_bytes = 8;
constexpr std::size_t read_bytes = 64 * 1024;  // at a time

std::string number_of(std::uint64_t frame) {
  std::string bytes;
  put_number(bytes, frame);
  return bytes;
}

}  // namespace

Channel::Channel(Fd connection, std::optional<Keys> keys, std::uint64_t longest)
    : connection_(std::move(connection)), keys_(keys), longest_(longest) {}

void Channel::end(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  connection_.reset();
}

void Channel::send(std::uint32_t kind, std::string_view bytes) {
  if (!is_open()) return;
  std::string header;
  put_number(header, kind);
  put_number(header, static_cast<std::uint32_t>(bytes.size()));
  out_ += header;
  out_ += bytes;
  if (keys_)
    out_ += bytes_of(mac_of(bytes_of(keys_->outgoing), {number_of(frames_out_), header, bytes}));
  ++frames_out_;
  flush();
}

bool Channel::flush() {
  while (is_open() && has_more_to_send()) {
    const ssize_t bytes =
        ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return true;
    // What the other side said before it went is still to be read: receive() sees the end.
    if (bytes < 0) break;
    sent_ += static_cast<std::size_t>(bytes);
  }
  const bool all = !has_more_to_send();
  out_.clear();
  sent_ = 0;
  return all && is_open();
}

std::optional<Frame> Channel::take() {
  if (in_.size() < header_bytes) return std::nullopt;
  Reader reader(in_);
  Frame frame;
  frame.kind = reader.number<std::uint32_t>();
  const auto length = reader.number<std::uint32_t>();
  if (length > longest_) return end("sent a longer frame than there are"), std::nullopt;
  const std::size_t whole = header_bytes + length + (keys_ ? mac_bytes : 0);
  if (in_.size() < whole) return std::nullopt;
  const std::string_view bytes(in_);
  if (keys_) {
    const Mac mac = mac_of(bytes_of(keys_->incoming),
                           {number_of(frames_in_), bytes.substr(0, header_bytes + length)});
    if (!same(mac, bytes.substr(header_bytes + length, mac_bytes)))
      return end("sent a frame that does not come from this job"), std::nullopt;
  }
  ++frames_in_;
  frame.bytes = bytes.substr(header_bytes, length);
  in_.erase(0, whole);
  return frame;
}

void Channel::read_more() {
  std::array<char, read_bytes> buffer;
  const ssize_t bytes = recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (bytes > 0) {
    in_.append(buffer.data(), static_cast<std::size_t>(bytes));
  } else if (bytes == 0) {
    end("has closed its connection");
  } else if (errno != EAGAIN && errno != EINTR) {
    end(std::string("is not reached any more: ") + std::strerror(errno));
  }
}

std::optional<Frame> Channel::receive() {
  while (is_open()) {
    if (auto frame = take()) return frame;
    if (!is_open()) break;
    const std::size_t before = in_.size();
    read_more();
    if (in_.size() == before) break;
  }
  return std::nullopt;
}

}  // namespace muster::detail::net
