// A shim and nothing else: small, so that starting one costs little.

#include "workers/process/shim.hpp"

int main(int argc, char** argv) {
  return muster::shim_main(argc, argv);
}
