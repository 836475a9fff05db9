#include "config/text_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <vector>

#include "model/check.hpp"

namespace muster {
namespace {

/// Bytes that are read and unpacked at a time.
constexpr std::size_t kPiece = std::size_t{1} << 18;
constexpr unsigned char kPackedMark[] = {0x1f, 0x8b};
/// Before a text in UTF-8 it says nothing, and would be a part of the first word.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// How texts of two or four bytes a character begin.
constexpr std::string_view kWideMarks[] = {"\xFF\xFE", "\xFE\xFF", {"\0\0\xFE\xFF", 4}};

}  // namespace

struct TextStream::Source {
  struct CloseFile {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  using File = std::unique_ptr<std::FILE, CloseFile>;

  /// Unpacks what gzip packed, which may be several such texts one after the other.
  class Unpacker {
   public:
    Unpacker() {
      // Added to the window's bits it tells zlib to expect gzip's head and nothing else.
      constexpr int kGzipOnly = 16;
      MUSTER_CHECK(inflateInit2(&state_, MAX_WBITS + kGzipOnly) == Z_OK, "zlib unpacks");
    }
    ~Unpacker() { inflateEnd(&state_); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    /// A text has ended and nothing of a next one has come.
    bool complete() const { return complete_; }

    /// Takes from `packed` what fills `out` and says how much of it was filled; nothing when it is
    /// damaged.
    std::optional<std::size_t> unpack(std::string_view& packed, std::vector<char>& out) {
      // Several texts that gzip packed may follow each other; each needs a new state.
      if (complete_ && !packed.empty()) {
        inflateReset(&state_);
        complete_ = false;
      }
      // zlib reads through the pointer only.
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      state_.avail_in = static_cast<uInt>(packed.size());
      state_.next_out = reinterpret_cast<Bytef*>(out.data());
      state_.avail_out = static_cast<uInt>(out.size());
      const int code = inflate(&state_, Z_NO_FLUSH);
      packed.remove_prefix(packed.size() - state_.avail_in);
      complete_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return std::nullopt;
      return out.size() - state_.avail_out;
    }

   private:
    z_stream state_{};
    bool complete_ = true;
  };

  using Piece = Expected<std::string_view, TextFileError>;

  Source(std::filesystem::path from, std::uint64_t most)
      : path(std::move(from)), max_bytes(most), bytes(kPiece) {
    std::error_code ignored;
    if (path == kStandardInput) {
      file.reset(stdin);
    } else if (std::filesystem::is_directory(path, ignored)) {
      // fopen() opens a folder too, and only reading it fails.
      why = "it is a folder";
    } else {
      file.reset(std::fopen(path.c_str(), "rb"));
      if (!file) why = reason_of(errno);
    }
  }

  static std::string reason_of(int code) {
    if (code == ENOENT) return "no such file";
    return std::generic_category().message(code);
  }

  Failure<TextFileError> failure(TextFileError code, std::string_view message) const {
    return {code, fmt::format("{}: {}", text_file_name(path), message)};
  }
  Failure<TextFileError> unreadable_failure() const {
    const std::string reason = why.empty() ? reason_of(EIO) : why;
    return failure(TextFileError::unreadable, fmt::format("cannot be read: {}", reason));
  }
  Failure<TextFileError> damaged() const {
    return failure(TextFileError::damaged, "is damaged: gzip cannot unpack it");
  }

  Piece next() {
    auto piece = is_packed() ? next_unpacked() : next_bytes();
    if (!piece || piece->empty()) return piece;
    if (given == 0) {
      for (const std::string_view mark : kWideMarks) {
        if (!piece->starts_with(mark)) continue;
        const std::string_view name = mark.size() == 2 ? "UTF-16" : "UTF-32";
        return failure(TextFileError::damaged, fmt::format("is {}; save it as UTF-8", name));
      }
      if (piece->starts_with(kByteOrderMark)) {
        given = kByteOrderMark.size();
        piece->remove_prefix(given);
        // Nothing else is in the file.
        if (piece->empty()) return next();
      }
    }
    // Parsers take texts up to a zero byte, and would pass over all behind it.
    // Counted over all pieces, so that the message gives the place in the text.
    if (const std::size_t zero = piece->find('\0'); zero != std::string_view::npos) {
      return failure(TextFileError::damaged,
                     fmt::format("is no text: byte {} is 0", given + zero + 1));
    }
    given += piece->size();
    if (given <= max_bytes) return piece;
    return failure(TextFileError::too_large,
                   fmt::format("has more than {} bytes of text", max_bytes));
  }

  /// Known once the first bytes are there.
  bool is_packed() {
    if (!looked) {
      looked = true;
      read();
      if (input.size() >= 2 && static_cast<unsigned char>(input[0]) == kPackedMark[0] &&
          static_cast<unsigned char>(input[1]) == kPackedMark[1]) {
        unpacker = std::make_unique<Unpacker>();
        unpacked.resize(kPiece);
      }
    }
    return unpacker != nullptr;
  }

  void read() {
    // Without a file `input` stays empty, and unreadable() tells it from the end.
    if (!file) return;
    input = {bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file.get())};
    if (std::ferror(file.get()) != 0) why = reason_of(errno);
  }
  bool unreadable() const { return !file || std::ferror(file.get()) != 0; }

  Piece next_bytes() {
    if (input.empty()) read();
    if (unreadable()) return unreadable_failure();
    return std::exchange(input, {});
  }

  Piece next_unpacked() {
    for (;;) {
      if (input.empty()) read();
      if (unreadable()) return unreadable_failure();
      const bool over = input.empty() && unpacker->complete();
      if (over) return std::string_view{};
      const std::size_t before = input.size();
      const bool first = given == 0 && !any_unpacked;
      // Behind a whole packed text only another one may come.
      const bool between = unpacker->complete() && !first;
      const std::optional<std::size_t> got = unpacker->unpack(input, unpacked);
      if (!got && between) {
        return failure(TextFileError::damaged,
                       "is damaged: after what gzip packed comes something that it did not pack");
      }
      const bool stuck = got == 0U && input.size() == before && !unpacker->complete();
      if (!got || stuck) return damaged();  // stuck: the packed text ends early
      any_unpacked = true;
      if (*got > 0) return std::string_view(unpacked.data(), *got);
    }
  }

  std::filesystem::path path;
  std::string why;  ///< it cannot be read; empty: it can
  std::uint64_t max_bytes;
  std::uint64_t given = 0;  ///< bytes of text that were handed out
  File file;
  std::vector<char> bytes, unpacked;
  std::string_view input;  ///< of `bytes`, what is not used yet
  bool looked = false;
  bool any_unpacked = false;
  std::unique_ptr<Unpacker> unpacker;  ///< where gzip packed the file
};

std::string text_file_name(const std::filesystem::path& file) {
  return file == kStandardInput ? "standard input" : file.string();
}

TextStream::TextStream(std::filesystem::path file, std::uint64_t max_bytes)
    : source_(std::make_unique<Source>(std::move(file), max_bytes)) {}
TextStream::~TextStream() = default;
TextStream::TextStream(TextStream&&) noexcept = default;
TextStream& TextStream::operator=(TextStream&&) noexcept = default;

const std::filesystem::path& TextStream::file() const {
  return source_->path;
}

Expected<std::string_view, TextFileError> TextStream::next() {
  return source_->next();
}

Expected<std::string, TextFileError> read_text_file(const std::filesystem::path& file,
                                                    std::uint64_t max_bytes) {
  TextStream stream(file, max_bytes);
  std::string text;
  for (;;) {
    auto piece = stream.next();
    if (!piece) return piece.error();
    if (piece->empty()) return text;
    const std::size_t size = text.size() + piece->size();
    // Doubles as a string does, but never beyond the bound by more than a piece.
    if (size > text.capacity()) {
      text.reserve(std::max(size, std::min<std::size_t>(2 * text.capacity(), max_bytes)));
    }
    text += piece.value();
  }
}

}  // namespace muster
