#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "model/expected.hpp"

namespace muster {

/// How large a text may be once it is unpacked.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 30;

enum class TextFileError : std::uint8_t { unreadable, damaged, too_large };

/// All of a file; one that gzip packed comes out unpacked, whatever it is called. Errors name the
/// file: it cannot be read, its packed content is damaged or ends early, or it is larger than
/// `max_bytes`.
Expected<std::string, TextFileError> read_text_file(const std::filesystem::path& file,
                                                    std::uint64_t max_bytes = kMaxTextBytes);

}  // namespace muster
