// Where muster::net is not built.
#include "cli/numbers.hpp"
#include "cli/run_nodes.hpp"

namespace muster::cli {

int run_on_nodes(const Nodes&, launcher::LaunchOptions,
                 const std::function<int(const NodeRank&)>&) {
  throw UsageError(
      "--rendezvous: this muster was built without OpenSSL's libcrypto, which tells "
      "the members of a job from strangers");
}

}  // namespace muster::cli
