#include "tools/experiment/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <vector>

#include "model/check.hpp"
#include "model/hexadecimal.hpp"

// Digests of what runs depend on. Contents count and not names or times of files: a copied trace
// has an equal digest, an overwritten one has not.

namespace muster::experiment {
namespace {

namespace fs = std::filesystem;

bool add_file(const fs::path& file, Digest& digest) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 16);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    digest.add({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
  return in.eof();
}

/// In the order of their names, as folders list them in any.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code bad;
  for (fs::recursive_directory_iterator at(folder, bad), end; !bad && at != end;
       at.increment(bad)) {
    if (at->is_regular_file(bad)) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

/// OpenSSL's digest; it fails only when the library itself is broken.
struct Digest::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> of{EVP_MD_CTX_new()};
};

Digest::Digest() : context_(std::make_unique<Context>()) {
  MUSTER_CHECK(context_->of && EVP_DigestInit_ex(context_->of.get(), EVP_sha256(), nullptr) == 1,
               "OpenSSL has SHA-256");
}

Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  MUSTER_CHECK(EVP_DigestUpdate(context_->of.get(), bytes.data(), bytes.size()) == 1,
               "a digest takes any bytes");
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  MUSTER_CHECK(EVP_DigestFinal_ex(context_->of.get(), bytes.data(), &size) == 1,
               "a digest is finished once");
  return hexadecimal({bytes.data(), size});
}

std::optional<std::string> digest_of_path(const fs::path& path) {
  Digest digest;
  std::error_code bad;
  if (!fs::is_directory(path, bad)) {
    if (!add_file(path, digest)) return std::nullopt;
    return digest.hex();
  }
  for (const fs::path& file : files_below(path)) {
    // The length keeps the end of one file apart from the beginning of the next.
    digest.add(
        fmt::format("{}\n{}\n", file.lexically_relative(path).string(), fs::file_size(file, bad)));
    if (!add_file(file, digest)) return std::nullopt;
  }
  return digest.hex();
}

}  // namespace muster::experiment
