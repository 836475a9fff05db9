// A shim, or what forks shims, and nothing else: small, so that starting one costs little.

#include <string_view>

#include "workers/process/shim/shim.hpp"
#include "workers/process/shim/shim_server.hpp"

int main(int argc, char** argv) {
  const bool server = argc == 4 && std::string_view(argv[1]) == muster::kShimServerVerb;
  return server ? muster::serve_shims(argv[2]) : muster::shim_main(argc, argv);
}
