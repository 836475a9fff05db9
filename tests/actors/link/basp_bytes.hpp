#pragma once

#include <cstdint>
#include <string>

#include "actors/link/basp_header.hpp"

namespace muster::test {

/// A header as CAF writes it: the named fields, everything else zero.
inline std::string basp_header(std::uint8_t operation, std::uint32_t payload_bytes,
                               std::uint8_t flags = 0) {
  std::string bytes(kBaspHeaderBytes, '\0');
  bytes[0] = static_cast<char>(operation);
  bytes[3] = static_cast<char>(flags);
  for (int i = 0; i < 4; ++i) bytes[7 - i] = static_cast<char>(payload_bytes >> (8 * i));
  return bytes;
}

inline std::string basp_message(BaspOperation operation, std::size_t payload_bytes) {
  return basp_header(static_cast<std::uint8_t>(operation),
                     static_cast<std::uint32_t>(payload_bytes)) +
         std::string(payload_bytes, 'p');
}

/// Walks over a stream of messages as CAF does, by its own reading of the format, and says which
/// headers would harm it.
class HarmMeter {
 public:
  explicit HarmMeter(std::uint64_t max_payload_bytes) : most_(max_payload_bytes) {}

  void take(const char* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (payload_ > 0) {
        --payload_;
        continue;
      }
      header_ += bytes[i];
      if (header_.size() == 32) judge();
    }
  }
  std::uint64_t headers() const { return headers_; }
  std::uint64_t harmful() const { return harmful_; }

 private:
  void judge() {
    for (int i = 4; i < 8; ++i) payload_ = payload_ * 256 + static_cast<unsigned char>(header_[i]);
    const int operation = static_cast<unsigned char>(header_[0]);
    const bool empty_one = payload_ == 0 && operation != 6;
    if (empty_one || operation > 6 || payload_ > most_) ++harmful_;
    ++headers_;
    header_.clear();
  }

  std::uint64_t most_;
  std::uint64_t payload_ = 0;
  std::string header_;
  std::uint64_t headers_ = 0;
  std::uint64_t harmful_ = 0;
};

}  // namespace muster::test
