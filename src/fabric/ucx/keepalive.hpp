// A host that vanishes: nothing tells but that nothing comes.
#pragma once

#include <ucp/api/ucp.h>

#include <chrono>

namespace muster::ucx {

// TCP asks a silent peer, and gives the connection up after `limit`. UCX's own switches for that.
void keep_alive(ucp_config_t* config, std::chrono::seconds limit);

// TCP asks nobody while something that was sent is unanswered: then it sends again and again, for a
// quarter of an hour. UCX leaves that so (1.13 sets no TCP_USER_TIMEOUT). So the connections that
// have just the keepalive that UCX was told to set are given that limit, too. Those that are new
// get it with the next call; a call within a second of the last one does nothing.
void limit_silence(std::chrono::seconds limit);

}  // namespace muster::ucx
