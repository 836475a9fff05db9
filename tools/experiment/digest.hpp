#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace muster::experiment {

/// A SHA-256 taken piece by piece.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::string_view bytes);
  /// In lower-case hexadecimal; nothing may be added after.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// The digest of a file's content, or of the names and contents of all files below a folder;
/// nothing when one cannot be read.
std::optional<std::string> digest_of_path(const std::filesystem::path& path);

}  // namespace muster::experiment
