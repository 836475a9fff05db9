#include "storage/files/content_flow.hpp"

namespace muster::files {

Expected<bool, FileError> HashingSink::has(const ContentId& /*id*/, std::uint64_t /*bytes*/) {
  return true;
}

Expected<ContentId, FileError> HashingSink::put(int file, std::uint64_t bytes,
                                                const HearBytes& heard) {
  ContentHasher hasher;
  const auto trouble = read_exactly(file, bytes, [&](std::string_view part) {
    hasher.add(part);
    return heard ? heard(part.size()) : FileTrouble{};
  });
  if (trouble) return *trouble;
  return hasher.finish();
}

FileTrouble HashingSink::finish() {
  return std::nullopt;
}

}  // namespace muster::files
