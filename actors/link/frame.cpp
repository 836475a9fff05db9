#include "actors/link/frame.hpp"

#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <exception>

namespace muster {
namespace {

constexpr std::size_t kMaxReasonBytes = 1024;
constexpr std::size_t kSmallFrameBytes = 8192;
constexpr int kMaxNesting = 12;
/// Average number of times that each word may be read. A message whose pointers all lead to the
/// same place is refused long before it has cost anything.
constexpr std::uint64_t kTraversals = 4;

/// Length of the UTF-8 sequence at the front of `text`; 0 when there is no valid one. Overlong
/// forms, surrogates and numbers above U+10FFFF are not valid: others who read them may refuse all.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool not_a_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || not_a_character ? 0 : length;
}

}  // namespace

FrameBytes make_frame(const std::function<void(link_wire::Frame::Builder)>& fill,
                      std::size_t max_bytes) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<link_wire::Frame>());
  const std::size_t length = capnp::computeSerializedSizeInWords(message) * sizeof(capnp::word);
  // Before anything is copied: a frame that is too long costs no second buffer.
  if (length > max_bytes) return {};
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  const auto chars = words.asChars();
  FrameBytes bytes;
  bytes.reserve(kFrameHeaderBytes + length);
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
    bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
  }
  bytes.append(chars.begin(), chars.size());
  return bytes;
}

FrameBytes heartbeat_frame() {
  return make_frame([](link_wire::Frame::Builder frame) { frame.setHeartbeat(); },
                    kSmallFrameBytes);
}

FrameBytes credit_frame(std::uint32_t count) {
  return make_frame([count](link_wire::Frame::Builder frame) { frame.setCredit(count); },
                    kSmallFrameBytes);
}

FrameBytes welcome_frame(std::uint32_t credits) {
  return make_frame(
      [credits](link_wire::Frame::Builder frame) {
        auto welcome = frame.initWelcome();
        welcome.initVersion().setMajor(kLinkMajor);
        welcome.getVersion().setMinor(kLinkMinor);
        welcome.setCredits(credits);
      },
      kSmallFrameBytes);
}

FrameBytes refused_frame(std::string_view reason) {
  return make_frame(
      [reason](link_wire::Frame::Builder frame) {
        auto refused = frame.initRefused();
        refused.initVersion().setMajor(kLinkMajor);
        refused.getVersion().setMinor(kLinkMinor);
        refused.setReason(clean_text(reason, kMaxReasonBytes));
      },
      kSmallFrameBytes);
}

std::uint32_t frame_length(std::span<const unsigned char, kFrameHeaderBytes> header) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
    length |= static_cast<std::uint32_t>(header[i]) << (8 * i);
  }
  return length;
}

std::optional<std::string> length_problem(std::uint32_t length, std::size_t max_bytes) {
  if (length > max_bytes) {
    return "a frame of " + std::to_string(length) + " bytes; at most " + std::to_string(max_bytes) +
           " are taken";
  }
  if (length < sizeof(capnp::word) || length % sizeof(capnp::word) != 0) {
    return "a frame of " + std::to_string(length) +
           " bytes; a frame is a positive multiple of 8 bytes";
  }
  return std::nullopt;
}

std::optional<std::string> read_frame(
    std::span<const std::uint64_t> words,
    const std::function<std::optional<std::string>(link_wire::Frame::Reader)>& use) {
  static_assert(sizeof(capnp::word) == sizeof(std::uint64_t));
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = words.size() * kTraversals;
  limits.nestingLimit = kMaxNesting;
  // Cap'n Proto reports malformed pointers by throwing, wherever they are first followed.
  try {
    const auto* first = reinterpret_cast<const capnp::word*>(words.data());
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(first, words.size()), limits);
    return use(reader.getRoot<link_wire::Frame>());
  } catch (const kj::Exception& error) {
    return std::string("not a frame: ") + error.getDescription().cStr();
  } catch (const std::exception& error) {
    return std::string("not a frame: ") + error.what();
  }
}

bool takes_credit(link_wire::Frame::Which kind) {
  switch (kind) {
    // Frames that steer take no credit: an end without credits could not give any, and both would
    // wait for ever.
    case link_wire::Frame::HEARTBEAT:
    case link_wire::Frame::WELCOME:
    case link_wire::Frame::REFUSED:
    case link_wire::Frame::CREDIT:
      return false;
    default:
      return true;
  }
}

std::string clean_text(std::string_view text, std::size_t max_bytes) {
  std::string clean;
  clean.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const bool control = length == 1 && (static_cast<unsigned char>(text[0]) < 0x20 ||
                                         static_cast<unsigned char>(text[0]) == 0x7f);
    const std::string_view next = control       ? std::string_view(" ")
                                  : length == 0 ? std::string_view("?")
                                                : text.substr(0, length);
    // Cut between characters, so that the rest stays valid.
    if (clean.size() + next.size() > max_bytes) break;
    clean += next;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

}  // namespace muster
