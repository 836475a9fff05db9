#include "serve/local/shipped_file.hpp"

namespace muster::local {

std::filesystem::path shipped_file(const std::filesystem::path& program, const std::string& name) {
  const auto installed = program.parent_path().parent_path() / "share" / "muster" / name;
  if (std::filesystem::exists(installed)) return installed;
  const auto source = std::filesystem::path(MUSTER_SOURCE_DIR) / "config" / name;
  return std::filesystem::exists(source) ? source : std::filesystem::path{};
}

}  // namespace muster::local
