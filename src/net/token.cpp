#include "net/token.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/fd.hpp"
#include "net/greeting.hpp"

namespace muster::detail::net {
namespace {

constexpr std::string_view space = " \t\r\n";

Error wrong(std::string what) {
  return Error{ErrorCode::invalid_argument, std::move(what)};
}

Result<std::string> checked(std::string token) {
  if (const auto good = check_token(token); !good) return good.error();
  return token;
}

}  // namespace

Result<std::string> token_in_file(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  std::array<char, 4096> buffer;
  ssize_t bytes = -1;
  if (file.is_open() && fstat(file.get(), &status) == 0)
    bytes = read(file.get(), buffer.data(), buffer.size());
  if (bytes < 0) {
    return Error{ErrorCode::system,
                 fmt::format("cannot read the job's token in {}: {}", path, std::strerror(errno))};
  }
  if (S_ISREG(status.st_mode) && (status.st_mode & 077U) != 0) {
    return wrong(
        fmt::format("the job's token in {} may be read or written by others (mode {:o}): "
                    "chmod 600 {}",
                    path, status.st_mode & 0777U, path));
  }
  const std::string_view text(buffer.data(), static_cast<std::size_t>(bytes));
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return checked("");
  return checked(std::string(text.substr(first, text.find_last_not_of(space) + 1 - first)));
}

Result<std::string> token_by_environment() {
  if (const char* token = std::getenv("MUSTER_TOKEN")) return checked(token);
  if (const char* path = std::getenv("MUSTER_TOKEN_FILE")) return token_in_file(path);
  return wrong(
      "ranks on several hosts need a secret, the same for all of them, that tells them from "
      "strangers: set MUSTER_TOKEN (export MUSTER_TOKEN=$(openssl rand -hex 32)), or "
      "MUSTER_TOKEN_FILE to a file with mode 600 that holds it");
}

}  // namespace muster::detail::net
