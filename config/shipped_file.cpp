#include "serve/local/shipped_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

fs::path installed(const fs::path& program) {
  return program.parent_path().parent_path() / "share" / "muster";
}

fs::path source() {
  return fs::path(MUSTER_SOURCE_DIR) / "config";
}

}  // namespace

fs::path shipped_file(const fs::path& program, const std::string& name) {
  for (const fs::path& folder : {installed(program), source()}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

bool is_shipped(const fs::path& program, const fs::path& file) {
  const std::string path = file.lexically_normal().string();
  return path.starts_with(installed(program).string() + "/") ||
         path.starts_with(source().string() + "/");
}

}  // namespace muster::local
