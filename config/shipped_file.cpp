#include "config/shipped_file.hpp"

#include <algorithm>
#include <array>
#include <system_error>

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCatalogs = "catalogs";
constexpr const char* kPrices = "prices";

/// The installed files go before those of a source tree.
std::array<fs::path, 2> shipped_folders() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  return {program.parent_path().parent_path() / "share" / "muster",
          fs::path(MUSTER_SOURCE_DIR) / "config"};
}

/// The shipped CSV file in that folder that the path means.
fs::path named_file(const fs::path& file, const char* folder) {
  std::error_code none;
  if (file.empty() || file.has_extension() || fs::exists(file, none)) return file;
  const fs::path shipped = shipped_file((folder / file.filename()).string() + ".csv");
  return shipped.empty() ? file : shipped;
}

}  // namespace

fs::path shipped_file(const std::string& name) {
  std::error_code none;
  for (const fs::path& folder : shipped_folders()) {
    if (fs::exists(folder / name, none)) return folder / name;
  }
  return {};
}

bool is_shipped(const fs::path& file) {
  const std::string path = file.lexically_normal().string();
  const auto folders = shipped_folders();
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    return path.starts_with(folder.string() + "/");
  });
}

fs::path catalog_path(const fs::path& file) {
  return named_file(file, kCatalogs);
}

fs::path prices_path(const fs::path& file) {
  return named_file(file, kPrices);
}

std::vector<std::string> shipped_catalogs() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(shipped_file(kCatalogs), none)) {
    if (entry.path().extension() == ".csv") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace muster
