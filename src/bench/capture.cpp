#include "bench/capture.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "muster/result.hpp"

namespace muster::bench {

Capture::Capture() : fd_(memfd_create("muster-bench", MFD_CLOEXEC)) {
  if (fd_ < 0)
    throw Failure(Error{ErrorCode::system, std::string("memfd_create: ") + std::strerror(errno)});
}

Capture::~Capture() {
  close(fd_);
}

std::string Capture::text() const {
  std::string all;
  std::array<char, 4096> piece{};
  ssize_t n = 0;
  while ((n = pread(fd_, piece.data(), piece.size(), static_cast<off_t>(all.size()))) > 0)
    all.append(piece.data(), static_cast<std::size_t>(n));
  return all;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \n-");
  if (end == std::string::npos) return {};
  const auto before = text.find_last_of('\n', end);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

}  // namespace muster::bench
