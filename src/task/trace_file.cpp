#include "task/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/fd.hpp"

namespace muster::task {
namespace {

constexpr std::string_view end_of_array = "\n]\n";

Error cannot(const char* what, const std::string& path) {
  return Error{ErrorCode::system,
               fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

// The first event of the file: Chrome's format lets metadata have any name.
std::string heading(std::uint64_t nonce) {
  return fmt::format(
      "[\n{{\"ph\":\"M\",\"name\":\"muster_job\",\"pid\":0,"
      "\"args\":{{\"job\":\"{:016x}\"}}}}",
      nonce);
}

bool begins_with(int file, const std::string& text) {
  std::string there(text.size(), '\0');
  const ssize_t got = pread(file, there.data(), there.size(), 0);
  return got == static_cast<ssize_t>(text.size()) && there == text;
}

bool write_all(int file, const std::string& text, off_t place) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put =
        pwrite(file, text.data() + done, text.size() - done, place + static_cast<off_t>(done));
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) done += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

Result<void> append_to_trace(const std::string& path, std::uint64_t nonce,
                             const std::vector<std::string>& events) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return cannot("open", path);
  const Fd closes(file);
  // Of the open file, so that threads exclude each other, too; it goes with the descriptor.
  if (flock(file, LOCK_EX) != 0) return cannot("lock", path);
  const std::string head = heading(nonce);
  std::string text;
  off_t place = 0;
  if (begins_with(file, head)) {
    place = lseek(file, 0, SEEK_END) - static_cast<off_t>(end_of_array.size());
  } else {
    if (ftruncate(file, 0) != 0) return cannot("empty", path);
    text = head;
  }
  for (const std::string& event : events) {
    text += ",\n";
    text += event;
  }
  text += end_of_array;
  if (!write_all(file, text, place)) return cannot("write", path);
  return {};
}

}  // namespace muster::task
