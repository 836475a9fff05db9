#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/content_flow.hpp"
#include "storage/files/file_io.hpp"
#include "storage/files/file_tree.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::files {

/// A value that a test cannot go on without.
template <class T>
T valid(Expected<T, FileError> made) {
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  return std::move(made).value();
}

/// A folder with files that goes away with the object.
class StagedFolder {
 public:
  std::filesystem::path path() const { return beside_.folder() / "top"; }
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }

  StagedFolder() {
    std::filesystem::create_directory(path());
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  /// Writes a file, with the folders above it.
  StagedFolder& file(const std::string& name, std::string_view content = "text") {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream(path() / name, std::ios::binary) << content;
    return *this;
  }
  StagedFolder& link(const std::string& name, const std::string& target) {
    std::filesystem::create_symlink(target, path() / name);
    return *this;
  }
  Descriptor open() const { return valid(open_folder(path())); }
  std::string text(const std::string& name) const {
    std::ifstream in(path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  test::TempFile beside_{"beside", "secret"};
};

/// Keeps contents in memory.
class MemoryContents : public ContentSink, public ContentSource {
 public:
  Expected<bool, FileError> has(const ContentId& id, std::uint64_t bytes) override {
    const auto content = by_id.find(id);
    return content != by_id.end() && content->second.size() == bytes;
  }
  Expected<ContentId, FileError> put(int file, std::uint64_t bytes,
                                     const HearBytes& heard) override {
    ++puts;
    if (failure) return *failure;
    std::string content;
    if (before_read) before_read();
    const auto trouble = read_exactly(file, bytes, [&](std::string_view part) {
      content += part;
      return heard ? heard(part.size()) : FileTrouble{};
    });
    if (trouble) return *trouble;
    const ContentId id = ContentId::of(content);
    by_id[id] = content;
    return id;
  }
  FileTrouble finish() override {
    finished = true;
    return std::nullopt;
  }
  Expected<Descriptor, FileError> open_read(const ContentId& id) override {
    const auto content = by_id.find(id);
    if (content == by_id.end()) {
      return Failure<FileError>{FileError::missing, "there is no content " + id.text()};
    }
    scratch_.file(id.text(), content->second);
    return open_entry(scratch_.open().get(), id.text(), 0);
  }

  std::map<ContentId, std::string> by_id;
  std::function<void()> before_read;
  FileTrouble failure;  ///< of each put
  int puts = 0;
  bool finished = false;

 private:
  StagedFolder scratch_;
};

inline std::vector<std::string> paths_in(const FileTree& tree) {
  std::vector<std::string> paths;
  for (const TreeEntry& entry : tree.entries()) paths.push_back(entry.path);
  return paths;
}

}  // namespace muster::files
