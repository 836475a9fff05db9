#include "serve/notify/notify_key.hpp"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <array>

#include "model/hexadecimal.hpp"
#include "serve/api/private_file.hpp"

namespace muster::notify {
namespace {

constexpr std::size_t kMostKeyBytes = 4096;
constexpr std::size_t kShortestKey = 16;

std::string in_one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

Expected<std::string, KeyError> NotifyKey::get() {
  const std::lock_guard lock(mutex_);
  if (!key_.empty()) return key_;
  // Nodes of one computer share the file.
  const api::FileLock turn(file_);
  auto read = api::read_private(file_, kMostKeyBytes);
  if (!read && read.error().code == api::FileError::missing) {
    std::array<unsigned char, 32> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
      return Failure<KeyError>{KeyError::unusable, "there are no random numbers for a key"};
    }
    const std::string made = hexadecimal(bytes);
    if (const auto trouble = api::replace_private(file_, made + '\n')) {
      return Failure<KeyError>{KeyError::unusable, "the file notify.key: " + *trouble};
    }
    return key_ = made;
  }
  if (!read) {
    return Failure<KeyError>{KeyError::unusable, "the file notify.key: " + read.error().message};
  }
  std::string key = in_one_line(std::move(read).value());
  if (key.size() < kShortestKey) {
    return Failure<KeyError>{
        KeyError::unusable,
        fmt::format("the file notify.key has to have at least {} letters", kShortestKey)};
  }
  return key_ = std::move(key);
}

}  // namespace muster::notify
