#include "storage/files/object_batch.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <span>
#include <string>
#include <utility>

namespace muster::files {

Expected<ObjectWriter, FileError> ObjectWriter::begin(ObjectFolder& store) {
  const std::string name = std::to_string(store.next_name_++);
  Descriptor file(openat(store.own_.get(), name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_failure("the content of an object", "begun", errno);
  return ObjectWriter(store, {store.own_.get(), name}, std::move(file));
}

ObjectWriter::ObjectWriter(ObjectFolder& store, UnsettledObject object, Descriptor file)
    : store_(&store), object_(std::move(object)), file_(std::move(file)) {}

FileTrouble ObjectWriter::add(std::string_view part) {
  if (failed_) return failed_;
  hasher_.add(part);
  object_.bytes += part.size();
  const int error = write_all(file_.get(), part);
  if (error != 0) failed_ = system_failure("the content of an object", "written", error);
  return failed_;
}

UnsettledObject ObjectWriter::seal() && {
  object_.id = hasher_.finish();
  // The disk begins to write, so that the later wait for many contents is a short one.
  sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  return std::move(object_);
}

Expected<ContentId, FileError> ObjectWriter::finish(const std::optional<ContentId>& expected) {
  if (failed_) return *failed_;
  UnsettledObject object = std::move(*this).seal();
  if (expected && object.id != *expected) {
    return Failure<FileError>{FileError::damaged, fmt::format("the content has to be {}; it is {}",
                                                              expected->text(), object.id.text())};
  }
  if (auto trouble = store_->settle(std::span(&object, 1))) return *trouble;
  return object.id;
}

Expected<bool, FileError> ObjectBatch::has(const ContentId& id, std::uint64_t bytes) {
  if (failed_) return *failed_;
  if (waiting_ids_.contains(id)) return true;
  auto there = store_.refresh(id, bytes);
  if (!there) failed_ = there.error();
  // Another process may have named it without having waited for the disk yet.
  if (there && there.value()) found_in_.insert(ObjectFolder::folder_of(id));
  return there;
}

Expected<ContentId, FileError> ObjectBatch::put(int file, std::uint64_t bytes,
                                                const HearBytes& heard) {
  if (failed_) return *failed_;
  auto writer = ObjectWriter::begin(store_);
  if (!writer) failed_ = writer.error();
  if (failed_) return *failed_;
  const auto trouble = read_exactly(file, bytes, [&](std::string_view part) -> FileTrouble {
    failed_ = writer->add(part);
    if (failed_ || !heard) return failed_;
    return heard(part.size());
  });
  if (trouble) return *trouble;
  return take(std::move(writer).value());
}

Expected<ContentId, FileError> ObjectBatch::put_text(std::string_view content) {
  if (failed_) return *failed_;
  auto writer = ObjectWriter::begin(store_);
  failed_ = writer ? writer->add(content) : FileTrouble(writer.error());
  if (failed_) return *failed_;
  return take(std::move(writer).value());
}

/// Has the content wait for the disk with others.
Expected<ContentId, FileError> ObjectBatch::take(ObjectWriter writer) {
  UnsettledObject object = std::move(writer).seal();
  const ContentId id = object.id;
  if (!waiting_ids_.insert(id).second) return id;
  waiting_bytes_ += object.bytes;
  waiting_.push_back(std::move(object));
  if (waiting_.size() < kMostWaiting && waiting_bytes_ < kMostWaitingBytes) return id;
  if (auto failed = finish()) return *failed;
  return id;
}

FileTrouble ObjectBatch::finish() {
  if (failed_) return failed_;
  failed_ = store_.settle(waiting_, std::move(found_in_));
  found_in_.clear();
  waiting_.clear();
  waiting_ids_.clear();
  waiting_bytes_ = 0;
  return failed_;
}

}  // namespace muster::files
