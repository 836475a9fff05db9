#include "config/text_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <memory>
#include <string_view>

namespace muster {
namespace {

constexpr unsigned kChunk = 1U << 18;

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzFile = std::unique_ptr<gzFile_s, CloseGz>;

Failure<TextFileError> failure(TextFileError code, const std::filesystem::path& file,
                               std::string_view message) {
  return {code, fmt::format("{}: {}", file.string(), message)};
}

}  // namespace

Expected<std::string, TextFileError> read_text_file(const std::filesystem::path& file,
                                                    std::uint64_t max_bytes) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  const GzFile in(folder ? nullptr : gzopen(file.c_str(), "rb"));
  if (!in) return failure(TextFileError::unreadable, file, "cannot be read");
  gzbuffer(in.get(), kChunk);
  std::string text;
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + kChunk);
    const int got = gzread(in.get(), text.data() + size, kChunk);
    text.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
    if (text.size() > max_bytes) {
      return failure(TextFileError::too_large, file,
                     fmt::format("has more than {} bytes of text", max_bytes));
    }
    if (got <= 0) break;
  }
  int code = Z_OK;
  gzerror(in.get(), &code);
  if (code == Z_OK || code == Z_STREAM_END) return text;
  if (code == Z_ERRNO) return failure(TextFileError::unreadable, file, "cannot be read");
  return failure(TextFileError::damaged, file, "is damaged: what gzip packed does not unpack");
}

}  // namespace muster
