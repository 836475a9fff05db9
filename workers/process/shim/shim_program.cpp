// A shim, what forks shims, or the keeper of a service's replica, and nothing else: small, so that
// starting one costs little.

#include <string_view>

#include "workers/process/keeper/keeper.hpp"
#include "workers/process/shim/shim.hpp"
#include "workers/process/shim/shim_server.hpp"

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == muster::process::kKeepVerb) return muster::process::keep_main(argc, argv);
  const bool server = argc == 4 && verb == muster::kShimServerVerb;
  return server ? muster::serve_shims(argv[2]) : muster::shim_main(argc, argv);
}
