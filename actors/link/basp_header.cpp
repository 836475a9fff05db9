#include "actors/link/basp_header.hpp"

#include <algorithm>

// CAF 0.17 trusts the headers that it reads: some crash it, others make it allocate. The relay
// shows it only headers that passed here; payloads are not looked at.

namespace muster {
namespace {

constexpr auto kLastOperation = static_cast<std::uint8_t>(BaspOperation::heartbeat);
constexpr std::uint8_t kNamedReceiver = 0x01;
constexpr std::uint8_t kSelectConnection = 0x02;
constexpr std::uint8_t kKnownFlags = kNamedReceiver | kSelectConnection;

}  // namespace

std::string to_string(HeaderFault fault) {
  switch (fault) {
    case HeaderFault::none:
      return "none";
    case HeaderFault::unknown_operation:
      return "unknown operation";
    case HeaderFault::padding:
      return "padding that is not zero";
    case HeaderFault::unknown_flag:
      return "unknown flag";
    case HeaderFault::no_payload:
      return "no payload where there has to be one";
    case HeaderFault::unexpected_payload:
      return "a heartbeat with a payload";
    case HeaderFault::too_large:
      return "payload larger than allowed";
    case HeaderFault::out_of_order:
      return "handshake missing or out of order";
  }
  return "unknown";
}

// Numbers are big-endian. The fields behind the payload's length are not judged.
BaspHeader read_basp_header(std::span<const std::uint8_t, kBaspHeaderBytes> bytes) {
  BaspHeader header;
  header.operation = bytes[0];
  header.padding = static_cast<std::uint16_t>(bytes[1] << 8 | bytes[2]);
  header.flags = bytes[3];
  for (std::size_t i = 4; i < 8; ++i) header.payload_bytes = header.payload_bytes << 8 | bytes[i];
  return header;
}

BaspChecker::BaspChecker(BaspSender sender, std::uint32_t max_payload_bytes)
    : sender_(sender), max_payload_bytes_(max_payload_bytes) {}

BaspChecker::Step BaspChecker::look(std::span<const std::uint8_t> bytes) {
  Step step;
  for (;;) {
    // Payload goes on as it comes, however large it is: only headers have to be whole.
    const std::size_t payload = std::min(payload_left_, bytes.size() - step.pass);
    payload_left_ -= payload;
    step.pass += payload;
    const auto rest = bytes.subspan(step.pass);
    if (rest.size() < kBaspHeaderBytes) return step;
    const BaspHeader header = read_basp_header(rest.first<kBaspHeaderBytes>());
    step.fault = judge(header);
    // Nothing of a bad header goes on, and the caller ends the connection.
    if (step.fault != HeaderFault::none) return step;
    ++headers_;
    step.pass += kBaspHeaderBytes;
    payload_left_ = header.payload_bytes;
  }
}

HeaderFault BaspChecker::judge(const BaspHeader& header) const {
  if (header.operation > kLastOperation) return HeaderFault::unknown_operation;
  if (header.padding != 0) return HeaderFault::padding;
  if ((header.flags & ~kKnownFlags) != 0) return HeaderFault::unknown_flag;
  const bool heartbeat = header.operation == kLastOperation;
  if (heartbeat && header.payload_bytes != 0) return HeaderFault::unexpected_payload;
  if (!heartbeat && header.payload_bytes == 0) return HeaderFault::no_payload;
  if (header.payload_bytes > max_payload_bytes_) return HeaderFault::too_large;
  return in_order(header) ? HeaderFault::none : HeaderFault::out_of_order;
}

/// Both ends begin with their handshake. When several connections between two nodes have come up at
/// once, the connecting end says which one it takes by another handshake.
bool BaspChecker::in_order(const BaspHeader& header) const {
  const bool connecting = sender_ == BaspSender::connecting;
  const auto own = connecting ? BaspOperation::client_handshake : BaspOperation::server_handshake;
  const bool is_own = header.operation == static_cast<std::uint8_t>(own);
  if (headers_ == 0) return is_own;
  if (connecting && is_own) return (header.flags & kSelectConnection) != 0;
  return header.operation > static_cast<std::uint8_t>(BaspOperation::client_handshake);
}

}  // namespace muster
