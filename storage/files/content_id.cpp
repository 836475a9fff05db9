#include "storage/files/content_id.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "model/check.hpp"
#include "model/hexadecimal.hpp"
#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

/// -1: it is no hexadecimal digit in small letters.
int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

}  // namespace

ContentId ContentId::of(std::string_view content) {
  ContentHasher hasher;
  hasher.add(content);
  return hasher.finish();
}

Expected<ContentId, FileError> ContentId::parse(std::string_view text) {
  const auto refuse = [&] {
    return Failure<FileError>{
        FileError::invalid,
        fmt::format("a content's id has to be {} hexadecimal digits in small letters, not '{}'",
                    2 * kBytes, shown_path(text))};
  };
  if (text.size() != 2 * kBytes) return refuse();
  Bytes bytes{};
  for (std::size_t at = 0; at < kBytes; ++at) {
    const int high = digit_of(text[2 * at]);
    const int low = digit_of(text[2 * at + 1]);
    if (high < 0 || low < 0) return refuse();
    bytes[at] = static_cast<unsigned char>(16 * high + low);
  }
  return ContentId(bytes);
}

std::string ContentId::text() const {
  return hexadecimal(bytes_);
}

void ContentHasher::Release::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

ContentHasher::ContentHasher() : context_(EVP_MD_CTX_new()) {
  MUSTER_CHECK(context_, "memory for a hash");
  begin();
}

void ContentHasher::begin() {
  MUSTER_CHECK(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
               "OpenSSL has SHA-256");
}

void ContentHasher::add(std::string_view part) {
  MUSTER_CHECK(EVP_DigestUpdate(context_.get(), part.data(), part.size()) == 1,
               "a hash that was begun takes bytes");
}

ContentId ContentHasher::finish() {
  ContentId::Bytes bytes{};
  MUSTER_CHECK(EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr) == 1,
               "a hash that was begun ends");
  begin();
  return ContentId(bytes);
}

}  // namespace muster::files
