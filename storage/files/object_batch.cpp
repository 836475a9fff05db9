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
  hasher_.add(part);
  object_.bytes += part.size();
  const int error = write_all(file_.get(), part);
  if (error == 0) return std::nullopt;
  return system_failure("the content of an object", "written", error);
}

UnsettledObject ObjectWriter::seal() && {
  object_.id = hasher_.finish();
  // The disk begins to write, so that the later wait for many contents is a short one.
  sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  return std::move(object_);
}

Expected<ContentId, FileError> ObjectWriter::finish(const std::optional<ContentId>& expected) {
  UnsettledObject object = std::move(*this).seal();
  if (expected && object.id != *expected) {
    return Failure<FileError>{FileError::damaged, fmt::format("the content has to be {}; it is {}",
                                                              expected->text(), object.id.text())};
  }
  if (auto trouble = store_->settle(std::span(&object, 1))) return *trouble;
  return object.id;
}

Expected<bool, FileError> ObjectBatch::has(const ContentId& id) {
  if (waiting_ids_.contains(id)) return true;
  return store_.keep(id);
}

Expected<ContentId, FileError> ObjectBatch::put(int file, std::uint64_t bytes) {
  auto writer = ObjectWriter::begin(store_);
  if (!writer) return writer.error();
  if (auto trouble =
          read_exactly(file, bytes, [&](std::string_view part) { return writer->add(part); })) {
    return *trouble;
  }
  UnsettledObject object = std::move(writer).value().seal();
  const ContentId id = object.id;
  if (!waiting_ids_.insert(id).second) return id;
  waiting_bytes_ += object.bytes;
  waiting_.push_back(std::move(object));
  if (waiting_.size() < kMostWaiting && waiting_bytes_ < kMostWaitingBytes) return id;
  if (auto trouble = finish()) return *trouble;
  return id;
}

FileTrouble ObjectBatch::finish() {
  auto trouble = store_.settle(waiting_);
  waiting_.clear();
  waiting_ids_.clear();
  waiting_bytes_ = 0;
  return trouble;
}

}  // namespace muster::files
