#include "tools/cli/full_program.hpp"

namespace muster::cli {

std::filesystem::path full_program(std::error_code& why) {
  return std::filesystem::read_symlink("/proc/self/exe", why).parent_path() / "muster-full";
}

}  // namespace muster::cli
