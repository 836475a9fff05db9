#include "tests/support/places.hpp"

namespace muster::test {

std::filesystem::path source_dir() {
  return MUSTER_SOURCE_DIR;
}

std::filesystem::path built_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace muster::test
