#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/content_flow.hpp"
#include "storage/files/object_folder.hpp"

namespace muster::files {

/// Puts one content that comes in parts into a store. Without `finish` nothing of it stays.
class ObjectWriter {
 public:
  /// The store outlives the writer.
  static Expected<ObjectWriter, FileError> begin(ObjectFolder& store);

  /// `no_space` and other refusals of the disk. From the first failure on, the writer fails.
  FileTrouble add(std::string_view part);
  /// The content is an object, and durable. With `expected`, `damaged` when its id is another one.
  Expected<ContentId, FileError> finish(const std::optional<ContentId>& expected = {});

 private:
  friend class ObjectBatch;

  ObjectWriter(ObjectFolder& store, UnsettledObject object, Descriptor file);
  /// Ends the content, which is no object yet.
  UnsettledObject seal() &&;

  ObjectFolder* store_;
  UnsettledObject object_;
  Descriptor file_;
  ContentHasher hasher_;
  FileTrouble failed_;
};

/// Puts many contents into a store: they are objects, and durable, from a `finish` without trouble
/// on at the latest. The disk begins to write each content when it was put, and is waited for only
/// when many have come: for each of their files, and once for each folder with their names.
///
/// A batch that could not keep its contents stays failed: they are gone, and a later `finish` must
/// not say that all is well.
class ObjectBatch : public ContentSink {
 public:
  /// Contents, and bytes of them, that wait for the disk at most.
  static constexpr std::size_t kMostWaiting = 256;
  static constexpr std::uint64_t kMostWaitingBytes = std::uint64_t{256} << 20;

  /// The store outlives the batch.
  explicit ObjectBatch(ObjectFolder& store) : store_(store) {}

  Expected<bool, FileError> has(const ContentId& id, std::uint64_t bytes) override;
  Expected<ContentId, FileError> put(int file, std::uint64_t bytes,
                                     const HearBytes& heard) override;
  FileTrouble finish() override;
  /// A content that is in memory.
  Expected<ContentId, FileError> put_text(std::string_view content);

 private:
  Expected<ContentId, FileError> take(ObjectWriter writer);

  ObjectFolder& store_;
  std::vector<UnsettledObject> waiting_;
  std::set<ContentId> waiting_ids_;
  std::set<std::string> found_in_;  ///< folders with objects that were there
  std::uint64_t waiting_bytes_ = 0;
  FileTrouble failed_;
};

}  // namespace muster::files
