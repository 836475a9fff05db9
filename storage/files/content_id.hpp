#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/files/file_error.hpp"

struct evp_md_ctx_st;

namespace muster::files {

/// The SHA-256 of a content: equal contents have equal ids.
class ContentId {
 public:
  static constexpr std::size_t kBytes = 32;
  using Bytes = std::array<unsigned char, kBytes>;

  ContentId() = default;
  explicit ContentId(const Bytes& bytes) : bytes_(bytes) {}

  /// The id of a content that is in memory.
  static ContentId of(std::string_view content);
  /// Of exactly 64 hexadecimal digits in small letters; `invalid` otherwise.
  static Expected<ContentId, FileError> parse(std::string_view text);

  /// 64 hexadecimal digits in small letters.
  std::string text() const;
  const Bytes& bytes() const { return bytes_; }

  friend auto operator<=>(const ContentId&, const ContentId&) = default;

 private:
  Bytes bytes_{};
};

/// Makes the id of a content that comes in parts.
class ContentHasher {
 public:
  ContentHasher();

  void add(std::string_view part);
  /// The id of all parts; the next part begins another content.
  ContentId finish();

 private:
  struct Release {
    void operator()(evp_md_ctx_st* context) const;
  };
  void begin();

  std::unique_ptr<evp_md_ctx_st, Release> context_;
};

}  // namespace muster::files
