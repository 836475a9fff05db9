#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
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

  /// `no_space` and other refusals of the disk.
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
};

/// Puts many contents into a store, with one wait for the disk for many of them: they are objects,
/// and durable, from `finish` on at the latest.
class ObjectBatch : public ContentSink {
 public:
  /// Contents, and bytes of them, that wait for the disk at most.
  static constexpr std::size_t kMostWaiting = 256;
  static constexpr std::uint64_t kMostWaitingBytes = std::uint64_t{256} << 20;

  /// The store outlives the batch.
  explicit ObjectBatch(ObjectFolder& store) : store_(store) {}

  Expected<bool, FileError> has(const ContentId& id) override;
  Expected<ContentId, FileError> put(int file, std::uint64_t bytes) override;
  FileTrouble finish() override;

 private:
  ObjectFolder& store_;
  std::vector<UnsettledObject> waiting_;
  std::set<ContentId> waiting_ids_;
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace muster::files
