#pragma once

#include <cstdint>
#include <functional>

#include "storage/files/content_id.hpp"
#include "storage/files/file_error.hpp"
#include "storage/files/file_io.hpp"

// Where contents go to when a folder is scanned, and come from when a tree is unpacked.

namespace muster::files {

/// Hears of each part that was read of a content; trouble ends the reading.
using HearBytes = std::function<FileTrouble(std::uint64_t bytes)>;

/// Takes the contents of a folder, each once.
class ContentSink {
 public:
  virtual ~ContentSink() = default;

  /// Whether the content is there with this size and stays: then it is not put.
  virtual Expected<bool, FileError> has(const ContentId& id, std::uint64_t bytes) = 0;
  /// Reads the file to its end, once, and gives the content's id. `changed` when it has not exactly
  /// this number of bytes, `unreadable` when it cannot be read, or the trouble of `heard`; every
  /// other failure is the sink's own, which then takes nothing more.
  virtual Expected<ContentId, FileError> put(int file, std::uint64_t bytes,
                                             const HearBytes& heard) = 0;
  /// Nothing follows: all that was put is as safe as the sink makes it.
  virtual FileTrouble finish() = 0;
};

/// Keeps no content and only tells the ids.
class HashingSink : public ContentSink {
 public:
  Expected<bool, FileError> has(const ContentId& id, std::uint64_t bytes) override;
  Expected<ContentId, FileError> put(int file, std::uint64_t bytes,
                                     const HearBytes& heard) override;
  FileTrouble finish() override;
};

/// Gives contents by their ids.
class ContentSource {
 public:
  virtual ~ContentSource() = default;

  /// The content from its beginning; `missing` when there is no such content.
  virtual Expected<Descriptor, FileError> open_read(const ContentId& id) = 0;
};

}  // namespace muster::files
