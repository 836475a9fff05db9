#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "model/expected.hpp"

namespace muster {

/// How large a text may be once it is unpacked.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 30;

/// No bound, for readers that keep no more than a row.
inline constexpr std::uint64_t kAnyTextBytes = ~std::uint64_t{0};
/// The name that stands for the standard input.
inline constexpr const char* kStandardInput = "-";

/// Name of the file in messages.
std::string text_file_name(const std::filesystem::path& file);

enum class TextFileError : std::uint8_t { unreadable, damaged, too_large };

/// The text of a file, piece by piece; one that gzip packed comes out unpacked, whatever it is
/// called, and without a byte order mark. Errors name the file: it cannot be read (and why), its
/// packed content is damaged, ends early or is followed by something else, it is UTF-16 or has a
/// zero byte and so is no text, or it is larger than `max_bytes`.
class TextStream {
 public:
  explicit TextStream(std::filesystem::path file, std::uint64_t max_bytes = kMaxTextBytes);
  ~TextStream();
  TextStream(TextStream&&) noexcept;
  TextStream& operator=(TextStream&&) noexcept;

  const std::filesystem::path& file() const;
  /// The next piece, which stays until the next call; empty at the end of the text.
  Expected<std::string_view, TextFileError> next();

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

/// All of a file, as TextStream gives it. Takes no more memory than some `max_bytes`.
Expected<std::string, TextFileError> read_text_file(const std::filesystem::path& file,
                                                    std::uint64_t max_bytes = kMaxTextBytes);

}  // namespace muster
