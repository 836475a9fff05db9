// A piece of a task's output, as JSON or as bytes. Output may be any bytes, and a piece may end
// inside a character: in JSON it then ends before the character, with which the next piece begins.

#include "serve/api/log_piece.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace muster::api {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of a character by its first byte; 0: the byte begins no character.
struct Lead {
  std::size_t length = 0;
  unsigned char low = 0x80;  ///< that the second byte may be
  unsigned char high = 0xBF;
};

/// The well-formed sequences of RFC 3629, section 4. After E0, ED, F0 and F4 the second byte has a
/// narrower range, which excludes overlong forms, surrogates and code points above U+10FFFF.
Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

/// How many bytes of the character that begins here are there and right.
std::size_t right_bytes(std::string_view text, const Lead& lead) {
  std::size_t count = 1;
  for (; count < std::min(lead.length, text.size()); ++count) {
    const auto byte = static_cast<unsigned char>(text[count]);
    const bool second = count == 1;
    if (byte < (second ? lead.low : 0x80) || byte > (second ? lead.high : 0xBF)) break;
  }
  return count;
}

/// Bytes that are not printable ASCII could end the header or begin another one.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; }, ' ');
  return text;
}

}  // namespace

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Lead lead = lead_of(static_cast<unsigned char>(bytes.front()));
    const bool whole = lead.length > 0 && right_bytes(bytes, lead) == lead.length;
    const std::size_t length = whole ? lead.length : 1;
    text += whole ? bytes.substr(0, length) : kReplacement;
    bytes.remove_prefix(length);
  }
  return text;
}

std::size_t whole_characters(std::string_view bytes) {
  // A character has at most four bytes, so one that is not whole begins among the last three.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const std::string_view last = bytes.substr(bytes.size() - back);
    const Lead lead = lead_of(static_cast<unsigned char>(last.front()));
    if (lead.length <= back) continue;  // whole, or of no character
    return right_bytes(last, lead) == back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

Answer log_document(const LogQuery& query, const LogPiece& piece) {
  const std::string_view all = piece.bytes;
  const std::string_view part = all.substr(0, piece.more ? whole_characters(all) : all.size());
  nlohmann::ordered_json document{{"job", query.job.value},
                                  {"task", query.index},
                                  {"stream", query.error_stream ? "err" : "out"},
                                  {"attempt", piece.attempt},
                                  {"offset", piece.offset},
                                  {"next_offset", piece.offset + part.size()},
                                  {"size", nullptr},
                                  {"text", as_utf8(part)},
                                  {"more", piece.more},
                                  {"lost", !piece.lost.empty()},
                                  {"lost_reason", nullptr}};
  if (piece.size) document["size"] = *piece.size;
  if (!piece.lost.empty()) document["lost_reason"] = as_utf8(piece.lost);
  return {200, document.dump()};
}

Answer log_bytes(LogPiece piece) {
  Answer answer{200, std::move(piece.bytes)};
  answer.content_type = "application/octet-stream";
  const auto add = [&](const char* name, std::uint64_t value) {
    answer.headers.emplace_back(name, std::to_string(value));
  };
  add("Muster-Attempt", piece.attempt);
  add("Muster-Offset", piece.offset);
  add("Muster-Next-Offset", piece.offset + answer.json.size());
  if (piece.size) add("Muster-Size", *piece.size);
  add("Muster-More", piece.more ? 1 : 0);
  if (!piece.lost.empty()) answer.headers.emplace_back("Muster-Lost", one_line(piece.lost));
  return answer;
}

}  // namespace muster::api
