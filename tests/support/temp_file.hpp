#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "model/check.hpp"

namespace muster::test {

/// A file with the given content that goes away with the object, in a folder of its own.
class TempFile {
 public:
  TempFile(const std::string& name, std::string_view content) {
    // No folder that a killed run may have left behind has its name.
    std::string made = std::filesystem::temp_directory_path() / "muster-test-XXXXXX";
    MUSTER_CHECK(mkdtemp(made.data()) != nullptr, "a test without a folder for its files");
    folder_ = made;
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

}  // namespace muster::test
