#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace muster::test {

/// A file with the given content that goes away with the object, in a folder of its own.
class TempFile {
 public:
  TempFile(const std::string& name, std::string_view content) {
    static std::atomic<int> next{0};
    folder_ = std::filesystem::temp_directory_path() /
              ("muster-test-" + std::to_string(getpid()) + "-" + std::to_string(next++));
    std::filesystem::create_directories(folder_);
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
