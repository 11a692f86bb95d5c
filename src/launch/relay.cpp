#include "launch/relay.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "launch/epoll.hpp"

namespace muster::launcher {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;
constexpr std::uint32_t wake_index = ~0U;

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
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      done_(eventfd(0, EFD_CLOEXEC)),
      buffer_(buffer_bytes) {
  watch(epoll_.get(), wake_.get(), wake_index);
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
    watch(epoll_.get(), ends[0], static_cast<std::uint32_t>(streams_.size() - 1));
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
    said_ += line;
  }
  ring(wake_.get());
}

void Relay::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  ring(wake_.get());
}

bool Relay::lost_output() {
  if (thread_.joinable()) thread_.join();
  return lost_output_;
}

void Relay::loop() {
  // Room for every descriptor: what a rank wrote is then seen no later than the news of its end.
  std::vector<epoll_event> events(streams_.size() + 1);
  bool finishing = false;
  while (!finishing) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    std::string said;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t index = events[static_cast<std::size_t>(i)].data.u32;
      if (index != wake_index) {
        pump(streams_[index]);
        continue;
      }
      std::uint64_t rings = 0;
      [[maybe_unused]] const auto got = read(wake_.get(), &rings, sizeof rings);
      const std::lock_guard lock(mutex_);
      said = std::exchange(said_, {});
      finishing = finishing_;
    }
    if (finishing) {
      for (Stream& stream : streams_) drain(stream);
    }
    sinks_[1].pending += said;
    write_out();
  }
  ring(done_.get());
}

// What lies in the pipe, or its end.
void Relay::pump(Stream& stream) {
  if (stream.from.is_open()) read_some(stream, buffer_.size());
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

void Relay::write_out() {
  for (std::size_t i = 0; i < sinks_.size(); ++i) {
    Sink& sink = sinks_[i];
    if (!sink.closed && !write_all(sink.fd, sink.pending)) give_up(i, errno);
    sink.pending.clear();
  }
}

void Relay::give_up(std::size_t index, int reason) {
  Sink& sink = sinks_[index];
  sink.closed = true;
  for (Stream& stream : streams_) {
    if (stream.sink == index) stream.from.reset();
  }
  if (reason == EPIPE) return;  // the reader wanted no more
  lost_output_ = true;
  write_all(2, std::string("muster: cannot write to ") + (index == 0 ? "stdout: " : "stderr: ") +
                   strerror(reason) + "\n");
}

}  // namespace muster::launcher
