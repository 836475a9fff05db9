#include "storage/files/content_parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "storage/files/object_batch.hpp"

namespace muster::files {
namespace {

constexpr std::size_t kMostContents = 10'000'000;

Expected<std::uint64_t, FileError> size_of(int file, const std::string& name) {
  struct stat status {};
  if (fstat(file, &status) != 0) return system_failure(name, "looked at", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

/// Makes the object of all parts, and removes them.
Expected<PartsThere, FileError> put_together(UserFiles& files, const ContentPart& part, int file) {
  ObjectBatch batch(files.contents());
  if (lseek(file, 0, SEEK_SET) != 0) return system_failure(part.id.text(), "read", errno);
  const auto found = batch.put(file, part.size, {});
  if (!found) return found.error();
  if (found.value() != part.id) {
    unlinkat(files.parts(), part.id.text().c_str(), 0);
    return Failure<FileError>{FileError::damaged,
                              fmt::format("all parts together are the content {}, not {}: send "
                                          "them again",
                                          found->text(), part.id.text())};
  }
  if (auto trouble = batch.finish()) return *trouble;
  unlinkat(files.parts(), part.id.text().c_str(), 0);
  return PartsThere{part.size, true};
}

}  // namespace

Expected<PartsThere, FileError> add_part(UserFiles& files, const ContentPart& part) {
  if (part.offset > part.size || part.bytes.size() > part.size - part.offset) {
    return Failure<FileError>{
        FileError::invalid,
        fmt::format("a part from byte {} to {} is beyond the content's {} bytes", part.offset,
                    part.offset + part.bytes.size(), part.size)};
  }
  const auto there = files.contents().keep(part.id);
  if (!there) return there.error();
  if (there.value()) return PartsThere{part.size, true};
  if (part.bytes.empty() && part.offset < part.size) {
    return Failure<FileError>{FileError::invalid, "a part has to have some bytes"};
  }
  const std::string name = part.id.text();
  const Descriptor file(
      openat(files.parts(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_failure(name, "opened", errno);
  // Of several clients that send the content at once, and of a sweep.
  if (flock(file.get(), LOCK_EX) != 0) return system_failure(name, "locked", errno);
  const auto size = size_of(file.get(), name);
  if (!size) return size.error();
  if (part.offset != size.value()) return PartsThere{size.value(), false};
  if (lseek(file.get(), 0, SEEK_END) < 0) return system_failure(name, "written", errno);
  if (const int error = write_all(file.get(), part.bytes); error != 0) {
    // The rest of the part would be taken for its beginning otherwise.
    [[maybe_unused]] const int cut = ftruncate(file.get(), static_cast<off_t>(part.offset));
    return system_failure(name, "written", error);
  }
  const std::uint64_t now = part.offset + part.bytes.size();
  if (now < part.size) return PartsThere{now, false};
  return put_together(files, part, file.get());
}

FileTrouble drop_old_parts(UserFiles& files, std::int64_t before_s) {
  const auto names = names_in(files.parts(), kMostContents, "parts");
  if (!names) return names.error();
  for (const std::string& name : names.value()) {
    // Network file systems lock only what is open for writing.
    const Descriptor file = open_entry(files.parts(), name, O_RDWR);
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || status.st_mtim.tv_sec >= before_s) continue;
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlinkat(files.parts(), name.c_str(), 0);
  }
  return std::nullopt;
}

}  // namespace muster::files
