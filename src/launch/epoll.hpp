// What epoll wakes for, with a number that says which it was.
#pragma once

#include <sys/epoll.h>

#include <cstdint>

namespace muster::launcher {

inline void watch(int epoll, int fd, std::uint32_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = number;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace muster::launcher
