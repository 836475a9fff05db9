// Reads the file of the API's tokens, and compares an offered token with all of them. Digests are
// compared: they have one length, as a comparison in constant time needs.

#include "tools/serve/api/tokens.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>

namespace muster::api {
namespace {

constexpr std::size_t kMaxTokenFileBytes = 64 * 1024;
constexpr std::string_view kScheme = "bearer ";

Failure<ServerError> bad_file(const std::filesystem::path& file, const std::string& why) {
  return {ServerError::bad_token_file, fmt::format("{}: {}", file.string(), why)};
}

/// The fault of the file that is open, if it has one. It is read from the descriptor, not by the
/// path, so that the file that is checked is the file that is read.
std::optional<std::string> fault_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return std::strerror(errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return "is not a plain file";
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fmt::format("others than its owner may use it (mode {:04o}); run: chmod 0600 on it",
                       status.st_mode & 07777U);
  }
  return std::nullopt;
}

std::optional<std::string> read_all(int descriptor) {
  // One byte more than is allowed shows that the file is too large.
  std::string text(kMaxTokenFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(descriptor, text.data() + size, text.size() - size);
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

bool well_formed(std::string_view token) {
  return token.size() >= kMinTokenBytes && token.size() <= kMaxTokenBytes &&
         std::ranges::all_of(token, [](char letter) { return letter > ' ' && letter < 0x7f; });
}

Expected<std::vector<std::string>, ServerError> tokens_of(const std::filesystem::path& file,
                                                          const std::string& text) {
  std::vector<std::string> tokens;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (!well_formed(line)) {
      return Failure<ServerError>{
          ServerError::bad_token_file,
          fmt::format("{}:{}: a token has {} to {} visible ASCII characters and no spaces",
                      file.string(), number, kMinTokenBytes, kMaxTokenBytes)};
    }
    tokens.push_back(line);
  }
  if (tokens.empty() || tokens.size() > kMaxTokens) {
    return bad_file(file, fmt::format("holds {} tokens; it has to hold 1 to {}, one a line",
                                      tokens.size(), kMaxTokens));
  }
  return tokens;
}

}  // namespace

Tokens::Digest Tokens::digest(std::string_view token) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

Tokens::Tokens(const std::vector<std::string>& tokens) {
  for (const std::string& token : tokens) {
    digests_.push_back(digest(token));
  }
}

bool Tokens::admits(std::string_view authorization) const {
  if (authorization.size() <= kScheme.size()) {
    return false;
  }
  const std::string_view scheme = authorization.substr(0, kScheme.size());
  const bool bearer =
      std::equal(scheme.begin(), scheme.end(), kScheme.begin(), [](char left, char right) {
        return (left >= 'A' && left <= 'Z' ? left - 'A' + 'a' : left) == right;
      });
  // Every digest is compared, whole: the time tells nothing about how much of a guess was right.
  const Digest offered = digest(authorization.substr(kScheme.size()));
  unsigned matches = 0;
  for (const Digest& known : digests_) {
    matches |= CRYPTO_memcmp(known.data(), offered.data(), offered.size()) == 0 ? 1U : 0U;
  }
  return bearer && matches != 0;
}

Expected<std::vector<std::string>, ServerError> load_tokens(const std::filesystem::path& file) {
  // O_NONBLOCK: to open a FIFO would wait for its writer, before fault_of() can refuse it.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return bad_file(file, std::strerror(errno));
  }
  const std::optional<std::string> fault = fault_of(descriptor);
  const std::optional<std::string> text = fault ? std::nullopt : read_all(descriptor);
  ::close(descriptor);
  if (fault) {
    return bad_file(file, *fault);
  }
  if (!text) {
    return bad_file(file, "cannot be read");
  }
  if (text->size() > kMaxTokenFileBytes) {
    return bad_file(file, fmt::format("is larger than {} bytes", kMaxTokenFileBytes));
  }
  return tokens_of(file, *text);
}

}  // namespace muster::api
