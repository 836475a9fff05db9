#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace muster {

/// The protocol between CAF nodes (BASP 3): every message is a header of this size and the payload
/// that it announces.
inline constexpr std::size_t kBaspHeaderBytes = 32;

/// Kind of a message, by its first byte.
enum class BaspOperation : std::uint8_t {
  server_handshake,  ///< the first message of the accepting end
  client_handshake,  ///< the first message of the connecting end
  direct_message,
  routed_message,
  monitor_message,
  down_message,
  heartbeat  ///< the only one without a payload
};

/// Why a header does not go on.
enum class HeaderFault : std::uint8_t {
  none,
  unknown_operation,
  padding,  ///< the two bytes after the operation are not zero
  unknown_flag,
  no_payload,          ///< CAF 0.17 dereferences the payload of such a handshake: a crash
  unexpected_payload,  ///< a heartbeat with one
  too_large,           ///< CAF 0.17 allocates the announced length at once
  out_of_order         ///< not this end's handshake first, or one that cannot come later
};

std::string to_string(HeaderFault fault);

/// The fields of a header that are judged.
struct BaspHeader {
  std::uint8_t operation = 0;
  std::uint16_t padding = 0;
  std::uint8_t flags = 0;
  std::uint32_t payload_bytes = 0;
};

/// Takes the fields out of the bytes as they are, without judging them.
BaspHeader read_basp_header(std::span<const std::uint8_t, kBaspHeaderBytes> bytes);

/// Which end of a connection sends the bytes.
enum class BaspSender : std::uint8_t { connecting, accepting };

/// Looks at the headers of one direction of one connection.
class BaspChecker {
 public:
  struct Step {
    std::size_t pass = 0;  ///< bytes from the beginning that may go on to the other end
    HeaderFault fault = HeaderFault::none;  ///< of the header behind them; final
  };

  BaspChecker(BaspSender sender, std::uint32_t max_payload_bytes);

  /// The next bytes of the stream. A header passes only when it is whole and good: bytes that do
  /// not pass (fewer than kBaspHeaderBytes, when there is no fault) are shown again with more
  /// behind them.
  Step look(std::span<const std::uint8_t> bytes);

  /// Good headers so far.
  std::uint64_t headers() const { return headers_; }

 private:
  HeaderFault judge(const BaspHeader& header) const;
  bool in_order(const BaspHeader& header) const;

  BaspSender sender_;
  std::uint32_t max_payload_bytes_;
  std::uint64_t headers_ = 0;
  std::size_t payload_left_ = 0;
};

}  // namespace muster
