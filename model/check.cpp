#include "model/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace muster {

void check_failed(const char* condition, const char* file, int line, const char* meaning) {
  std::fprintf(stderr, "muster: %s:%d: check failed: %s (%s)\n", file, line, condition, meaning);
  std::abort();
}

}  // namespace muster
