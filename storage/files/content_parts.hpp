#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/files/content_id.hpp"
#include "storage/files/user_files.hpp"

namespace muster::files {

/// A part of a content that comes in several.
struct ContentPart {
  ContentId id{};
  std::uint64_t size = 0;    ///< of the whole content
  std::uint64_t offset = 0;  ///< of the part in it
  std::string_view bytes{};
};

/// The parts that are there of such a content.
struct PartsThere {
  std::uint64_t bytes = 0;  ///< from its beginning
  bool complete = false;    ///< the content is an object, durably
};

/// Adds a part to a content that comes in several, which is put into the store with the last one. A
/// part that begins where others have ended already, or later, changes nothing: the answer says
/// where the next one has to begin. `damaged` when all parts together are not the content; they are
/// dropped then. `invalid` for one that goes beyond the size. One call at a time for each content.
Expected<PartsThere, FileError> add_part(UserFiles& files, const ContentPart& part);

/// Removes parts of contents that have got no further ones since that time.
FileTrouble drop_old_parts(UserFiles& files, std::int64_t before_s);

}  // namespace muster::files
