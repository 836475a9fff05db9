#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/file_error.hpp"

// System calls on files, by descriptors. No call of these follows a link in the last part of a
// name.

namespace muster::files {

/// Owns an open descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  /// Whether one is owned.
  explicit operator bool() const { return number_ >= 0; }
  /// Its number; -1: there is no descriptor.
  int get() const { return number_; }
  /// Closes it.
  void reset();
  /// Leaves it open to another owner.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// A folder that the caller names, with links in the path followed.
Expected<Descriptor, FileError> open_folder(const std::filesystem::path& path);

/// Opens the entry `name` (one component) of a folder: never a link, never beyond a mount where the
/// kernel can tell (openat2), without waiting for a FIFO. On failure the descriptor is empty and
/// errno says why.
Descriptor open_entry(int folder, const std::string& name, int flags);

/// The names in a folder without "." and "..", sorted by their bytes, each once. `too_large` for
/// more than `most`.
Expected<std::vector<std::string>, FileError> names_in(int folder, std::size_t most,
                                                       std::string_view path);

/// Takes a part of a content; trouble ends the reading.
using TakeBytes = std::function<FileTrouble(std::string_view bytes)>;

/// Reads exactly `size` bytes from where the descriptor stands. `changed` when the file has fewer
/// or more, `unreadable` when the system gives an error of the file.
FileTrouble read_exactly(int file, std::uint64_t size, const TakeBytes& take);

/// At most `most` bytes of a regular file in the folder, in memory of the file's size; `missing`,
/// `too_large` or `refused` (it is no regular file) otherwise.
Expected<std::string, FileError> read_small_file(int folder, const std::string& name,
                                                 std::size_t most);

/// A folder in a folder, 0700, made where it is missing; its name is not waited for.
Expected<Descriptor, FileError> made_folder_in(int folder, const std::string& name);

/// Waits for the disk: the content of a file, or the names in a folder.
FileTrouble sync(int file, std::string_view path);

/// Puts a file (0600) with this text in the place of what has the name, with one rename, and waits
/// for the disk. After a crash there is the one text or the other.
FileTrouble replace_file(int folder, const std::string& name, std::string_view text);

/// Of files that replace_file() is writing, or was writing when its process died.
inline constexpr std::string_view kNewSuffix = ".new";
/// Removes files with that end of their names that were not changed since that time.
void remove_leftovers(int folder, std::string_view suffix, std::int64_t before_s);

/// Writes all bytes; errno of the failure, 0: all are written.
int write_all(int file, std::string_view bytes);

/// A point of time of a file, in nanoseconds since 1970; far ones are brought into range.
std::int64_t nanoseconds_of(const timespec& time);

}  // namespace muster::files
