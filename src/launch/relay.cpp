#include "launch/relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include "launch/epoll.hpp"

namespace muster::launcher {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;
constexpr std::size_t most_pending = buffer_bytes;  // of a sink, before more is read for it

void ring(int event_fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_fd, &one, sizeof one);
}

}  // namespace

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = write(fd, data.data(), data.size());
    if (written >= 0) {
      data.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Somebody who shares the descriptor made it non-blocking.
      pollfd room{fd, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Relay::Relay()
    : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      done_(eventfd(0, EFD_CLOEXEC)),
      buffer_(buffer_bytes) {
  for (Sink& sink : sinks_) sink.sources = Fd(epoll_create1(EPOLL_CLOEXEC));
}

Relay::~Relay() {
  if (!thread_.joinable()) return;
  finish();
  thread_.join();
}

OutputPipes Relay::add(std::uint32_t rank) {
  OutputPipes writers;
  for (const std::size_t sink : {0U, 1U}) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    (sink == 0 ? writers.out : writers.err) = Fd(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    streams_.push_back(Stream{Fd(ends[0]), sink, TaggedLines(rank)});
    watch(sinks_[sink].sources.get(), ends[0], static_cast<std::uint32_t>(streams_.size() - 1));
  }
  return writers;
}

bool Relay::start() {
  try {
    thread_ = std::thread([this] { loop(); });
    return true;
  } catch (const std::system_error& refused) {
    errno = refused.code().value();
    return false;
  }
}

void Relay::say(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    orders_.said += line;
  }
  ring(wake_.get());
}

void Relay::finish() {
  {
    const std::lock_guard lock(mutex_);
    orders_.finish = true;
  }
  ring(wake_.get());
}

void Relay::drop() {
  {
    const std::lock_guard lock(mutex_);
    orders_.drop = true;
  }
  ring(wake_.get());
}

bool Relay::lost_output() {
  if (thread_.joinable()) thread_.join();
  return lost_output_;
}

void Relay::loop() {
  bool finishing = false;
  const auto is_done = [&] { return finishing && sinks_[0].left() == 0 && sinks_[1].left() == 0; };
  while (!is_done()) {
    look(finishing);
    // Before the pipes: what a rank wrote is then seen no later than the news of its end.
    const Orders now = orders();
    if (now.finish && !finishing) drain_all();
    finishing = now.finish;
    for (Sink& sink : sinks_)
      if (!finishing && sink.left() < most_pending) pump(sink);
    sinks_[1].pending += now.said;
    for (std::size_t sink = 0; sink < sinks_.size(); ++sink) write_out(sink);
    if (now.drop) drop_pending();
  }
  ring(done_.get());
}

// Until there is something to read, to write or to do.
void Relay::look(bool finishing) {
  std::array<pollfd, 5> ends{};
  std::size_t count = 0;
  ends[count++] = {wake_.get(), POLLIN, 0};
  for (const Sink& sink : sinks_) {
    if (!finishing && sink.left() < most_pending) ends[count++] = {sink.sources.get(), POLLIN, 0};
    if (sink.left() > 0) ends[count++] = {sink.fd, POLLOUT, 0};
  }
  poll(ends.data(), count, -1);
}

Relay::Orders Relay::orders() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto got = read(wake_.get(), &rings, sizeof rings);
  const std::lock_guard lock(mutex_);
  Orders now = orders_;
  orders_.said.clear();
  return now;
}

// What lies in each pipe, or its end.
void Relay::pump(Sink& sink) {
  std::vector<epoll_event> events(streams_.size() + 1);  // room for all
  const int count =
      epoll_wait(sink.sources.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    Stream& stream = streams_[events[static_cast<std::size_t>(i)].data.u32];
    if (stream.from.is_open()) read_some(stream, buffer_.size());
  }
}

void Relay::drain_all() {
  for (Stream& stream : streams_) drain(stream);
}

void Relay::drain(Stream& stream) {
  int waiting = 0;
  if (!stream.from.is_open()) return;
  ioctl(stream.from.get(), FIONREAD, &waiting);
  auto left = static_cast<std::size_t>(std::max(waiting, 0));
  while (left > 0 && stream.from.is_open()) {
    const std::size_t part = std::min(left, buffer_.size());
    if (!read_some(stream, part)) break;
    left -= part;
  }
  end(stream);
}

bool Relay::read_some(Stream& stream, std::size_t most) {
  const ssize_t count = read(stream.from.get(), buffer_.data(), most);
  if (count > 0) {
    stream.lines.add({buffer_.data(), static_cast<std::size_t>(count)},
                     sinks_[stream.sink].pending);
    return true;
  }
  if (count == 0) end(stream);
  return false;
}

void Relay::end(Stream& stream) {
  if (!stream.from.is_open()) return;
  stream.lines.end(sinks_[stream.sink].pending);
  stream.from.reset();
}

// As much as there is room for. A pipe that can be written to takes so much without making us wait,
// unless somebody else fills it meanwhile.
void Relay::write_out(std::size_t index) {
  Sink& sink = sinks_[index];
  pollfd room{sink.fd, POLLOUT, 0};
  while (!sink.closed && sink.left() > 0 && poll(&room, 1, 0) > 0) {
    const std::size_t part = std::min<std::size_t>(sink.left(), PIPE_BUF);
    const ssize_t written = write(sink.fd, sink.pending.data() + sink.written, part);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (written < 0) {
      give_up(index, errno);
      break;
    }
    sink.written += static_cast<std::size_t>(written);
    taken_ += static_cast<std::uint64_t>(written);
  }
  if (sink.closed) sink.written = sink.pending.size();
  if (sink.left() > 0 && sink.written < most_pending) return;
  sink.pending.erase(0, std::exchange(sink.written, 0));
}

void Relay::drop_pending() {
  std::size_t bytes = 0;
  for (Sink& sink : sinks_) {
    bytes += sink.left();
    sink.pending.clear();
    sink.written = 0;
  }
  if (bytes == 0) return;
  lost_output_ = true;
  pollfd room{2, POLLOUT, 0};
  const std::string line =
      "muster: " + std::to_string(bytes) + " bytes of output, which nobody reads, are dropped\n";
  if (poll(&room, 1, 0) > 0) write_all(2, line);
}

void Relay::give_up(std::size_t index, int reason) {
  Sink& sink = sinks_[index];
  sink.closed = true;
  for (Stream& stream : streams_) {
    if (stream.sink == index) stream.from.reset();
  }
  if (reason == EPIPE) return;  // the reader wanted no more
  lost_output_ = true;
  if (index == 0)
    sinks_[1].pending += std::string("muster: cannot write to stdout: ") + strerror(reason) + "\n";
}

}  // namespace muster::launcher
