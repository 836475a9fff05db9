#include "storage/files/user_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <tuple>
#include <utility>

#include "storage/files/object_batch.hpp"
#include "storage/files/path_text.hpp"

// A tree is named in stages/ only when all its contents are durable, and named anew each time that
// it is used. A sweep removes contents that are older than any use that it did not see
// (files_sweep.hpp).

namespace muster::files {
namespace {

constexpr const char* kFormatOfStore = "format";
constexpr std::string_view kFormatTextOfStore = "muster-files 1\n";
/// Entries of a folder that is to become a store.
constexpr std::size_t kMostOthers = 100;
constexpr const char* kContents = "contents";
constexpr const char* kObjectsOfUser = "contents/objects";
constexpr const char* kStages = "stages";
constexpr const char* kJobs = "jobs";
constexpr const char* kOutputs = "outputs";
constexpr const char* kParts = "parts";
constexpr std::size_t kMostUserBytes = 256;
/// Of a file's name; one more than the kernel's bound is no name.
constexpr std::size_t kMostNameOfUser = 200;

Failure<FileError> no_store(const std::filesystem::path& store) {
  return {FileError::system,
          shown_path(store.string()) +
              " is no store of files that a node with an API has made: is it mounted?"};
}

/// A store, as the caller names it.
Expected<Descriptor, FileError> open_store(const std::filesystem::path& store) {
  auto root = open_folder(store);
  if (!root) return Failure<FileError>{FileError::system, root.error().message};
  const auto format = read_small_file(root->get(), kFormatOfStore, kMostNameOfUser);
  if (!format && format.error().code != FileError::missing) return format.error();
  if (!format || format.value() != kFormatTextOfStore) return no_store(store);
  return root;
}

FileTrouble owner_fault(int root, const std::filesystem::path& store) {
  struct stat status {};
  if (fstat(root, &status) != 0) return system_failure(store.string(), "looked at", errno);
  if (status.st_uid == geteuid()) return std::nullopt;
  return Failure<FileError>{
      FileError::refused,
      fmt::format("{} has to belong to the user of this process (number {}); it belongs to {}",
                  shown_path(store.string()), geteuid(), status.st_uid)};
}

FileTrouble name_fault(std::string_view user) {
  if (user.size() <= kMostUserBytes) return std::nullopt;
  return Failure<FileError>{
      FileError::invalid, fmt::format("a user's name has to be at most {} bytes", kMostUserBytes)};
}

FileTrouble touch(int folder, const std::string& name) {
  if (utimensat(folder, name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0) return std::nullopt;
  return system_failure(name, "kept", errno);
}

Expected<std::string, FileError> text_of(ContentSource& source, const ContentId& id,
                                         std::size_t most) {
  const auto file = source.open_read(id);
  if (!file) return file.error();
  struct stat status {};
  if (fstat(file->get(), &status) != 0) return system_failure(id.text(), "looked at", errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most) {
    return Failure<FileError>{
        FileError::too_large,
        fmt::format("the list of a tree's files has {} bytes; it may have {}", size, most)};
  }
  std::string text;
  text.reserve(size);
  const auto trouble = read_exactly(file->get(), size, [&](std::string_view part) -> FileTrouble {
    text += part;
    return std::nullopt;
  });
  if (trouble) return *trouble;
  return text;
}

/// A tree was held to limits when it was put here.
const TreeLimits kAnyTree{.content_bytes = std::numeric_limits<std::uint64_t>::max()};

Expected<FileTree, FileError> tree_from(ContentSource& source, const ContentId& id,
                                        const TreeLimits& limits) {
  const auto text = text_of(source, id, limits.manifest_bytes);
  if (!text) return text.error();
  if (ContentId::of(text.value()) != id) {
    return Failure<FileError>{FileError::damaged,
                              "the list of files " + id.text() + " was damaged on the disk"};
  }
  return FileTree::decode(text.value(), limits);
}

}  // namespace

std::string file_name_of_user(std::string_view user) {
  if (user.empty()) return "%";
  std::string name;
  for (const char letter : user) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
    name +=
        plain ? std::string(1, letter) : fmt::format("%{:02x}", static_cast<unsigned char>(letter));
  }
  // '%' stands before two digits in every other name.
  return name.size() <= kMostNameOfUser ? name : "%h" + ContentId::of(user).text();
}

FileTrouble make_store(const std::filesystem::path& store) {
  std::error_code bad;  // told by the making of the last folder
  std::filesystem::create_directories(store.parent_path(), bad);
  if (mkdir(store.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure(store.string(), "made", errno);
  }
  const auto root = open_folder(store);
  if (!root) return root.error();
  if (auto fault = owner_fault(root->get(), store)) return fault;
  if (fchmod(root->get(), 0700) != 0) {
    return system_failure(store.string(), "closed to other users", errno);
  }
  const auto above = open_folder(store.parent_path());
  if (!above) return above.error();
  if (auto trouble = sync(above->get(), store.parent_path().string())) return trouble;
  const auto format = read_small_file(root->get(), kFormatOfStore, kMostNameOfUser);
  if (format && format.value() == kFormatTextOfStore) return std::nullopt;
  if (format || format.error().code != FileError::missing) return no_store(store);
  const auto names = names_in(root->get(), kMostOthers, store.string());
  const bool is_empty = names && std::ranges::all_of(names.value(), [](const std::string& name) {
                          return name.ends_with(kNewSuffix);
                        });
  if (is_empty) return replace_file(root->get(), kFormatOfStore, kFormatTextOfStore);
  return Failure<FileError>{FileError::refused,
                            shown_path(store.string()) + " has to be a store of files or empty"};
}

FileTrouble store_fault(const std::filesystem::path& store) {
  const auto root = open_store(store);
  if (!root) return root.error();
  return std::nullopt;
}

Expected<std::unique_ptr<UserFiles>, FileError> UserFiles::open_in(
    const std::filesystem::path& store, std::string_view user) {
  if (auto fault = name_fault(user)) return *fault;
  return open_folder_of(store, file_name_of_user(user));
}

Expected<std::unique_ptr<UserFiles>, FileError> UserFiles::open_folder_of(
    const std::filesystem::path& store, const std::string& name) {
  const auto top = open_store(store);
  if (!top) return top.error();
  if (auto fault = owner_fault(top->get(), store)) return *fault;
  const auto users = made_folder_in(top->get(), kUsersFolder);
  if (!users) return users.error();
  auto root = made_folder_in(users->get(), name);
  if (!root) return root.error();
  auto files = std::unique_ptr<UserFiles>(new UserFiles);
  files->root_ = std::move(root).value();
  Descriptor outputs;
  for (const auto& [folder, place] : {std::pair<const char*, Descriptor*>{kStages, &files->stages_},
                                      {kJobs, &files->jobs_},
                                      {kParts, &files->parts_},
                                      {kOutputs, &outputs}}) {
    auto made = made_folder_in(files->root_.get(), folder);
    if (!made) return made.error();
    *place = std::move(made).value();
  }
  files->outputs_ = std::make_unique<KeptOutputs>(std::move(outputs));
  // From the inside out, so that a name on the disk leads to what it stands for.
  for (const int folder : {files->root_.get(), users->get(), top->get()}) {
    if (auto trouble = sync(folder, store.string())) return *trouble;
  }
  auto contents = ObjectFolder::open_in(store / kUsersFolder / name / kContents);
  if (!contents) return contents.error();
  files->contents_ = std::move(contents).value();
  return files;
}

Expected<StagedTree, FileError> UserFiles::stage(const ContentId& tree, const TreeLimits& limits,
                                                 std::size_t most) {
  const auto there = contents_->keep(tree);
  if (!there) return there.error();
  StagedTree staged;
  if (!there.value()) {
    staged.missing.push_back(tree);
    return staged;
  }
  const auto read = tree_from(*contents_, tree, limits);
  if (!read && read.error().code == FileError::damaged) {
    // It can be put again then.
    if (auto trouble = contents_->check(tree); trouble && trouble->code != FileError::damaged) {
      return *trouble;
    }
    staged.missing.push_back(tree);
    return staged;
  }
  if (!read) return read.error();
  // The sizes are the manifest's word, which contents of other sizes do not keep.
  ObjectBatch batch(*contents_);
  std::vector<const TreeEntry*> by_content;
  for (const TreeEntry& entry : read->entries()) {
    if (entry.kind == EntryKind::file) by_content.push_back(&entry);
  }
  std::sort(by_content.begin(), by_content.end(), [](const auto* a, const auto* b) {
    return std::tie(a->content, a->bytes) < std::tie(b->content, b->bytes);
  });
  const TreeEntry* before = nullptr;
  for (const TreeEntry* entry : by_content) {
    const bool again = before != nullptr && before->content == entry->content;
    if (again && before->bytes == entry->bytes) continue;
    if (again) {
      return Failure<FileError>{
          FileError::invalid, fmt::format("the tree says of one content that it has {} bytes, and "
                                          "that it has {}",
                                          before->bytes, entry->bytes)};
    }
    before = entry;
    const auto has = batch.has(entry->content, entry->bytes);
    if (!has) return has.error();
    if (has.value()) continue;
    staged.missing.push_back(entry->content);
    if (staged.missing.size() >= most) return staged;
  }
  if (!staged.missing.empty()) return staged;
  if (auto trouble = batch.finish()) return *trouble;
  if (auto trouble = replace_file(stages_.get(), tree.text(), "")) return *trouble;
  staged.complete = true;
  return staged;
}

Expected<bool, FileError> UserFiles::use_stage(const ContentId& tree) {
  const auto trouble = touch(stages_.get(), tree.text());
  if (trouble && trouble->code != FileError::missing) return *trouble;
  return !trouble;
}

Expected<FileTree, FileError> UserFiles::read_tree(const ContentId& id) {
  return tree_from(*contents_, id, kAnyTree);
}

FileTrouble UserFiles::check_stage(const ContentId& tree) {
  const auto read = read_tree(tree);
  std::vector<ContentId> contents{tree};
  if (read) {
    const auto more = read->contents();
    contents.insert(contents.end(), more.begin(), more.end());
  }
  for (const ContentId& each : contents) {
    auto trouble = contents_->check(each);
    if (!trouble || trouble->code == FileError::missing) continue;
    if (trouble->code != FileError::damaged) return trouble;
    unlinkat(stages_.get(), tree.text().c_str(), 0);
  }
  return std::nullopt;
}

FileTrouble UserFiles::pin(std::uint64_t job, const ContentId& tree) {
  return replace_file(jobs_.get(), std::to_string(job), tree.text() + "\n");
}

Expected<std::optional<ContentId>, FileError> UserFiles::pinned(std::uint64_t job) const {
  const auto text = read_small_file(jobs_.get(), std::to_string(job), 2 * ContentId::kBytes + 1);
  if (!text && text.error().code == FileError::missing) return std::optional<ContentId>{};
  if (!text) return text.error();
  const auto id = ContentId::parse(std::string_view(text.value()).substr(0, text->size() - 1));
  if (!id) return id.error();
  return std::optional(id.value());
}

Expected<UserContents, FileError> UserContents::open_in(const std::filesystem::path& store,
                                                        std::string_view user) {
  if (auto fault = name_fault(user)) return *fault;
  auto root = open_folder(store / kUsersFolder / file_name_of_user(user));
  if (!root) return root.error();
  UserContents contents;
  contents.root_ = std::move(root).value();
  contents.objects_ = open_entry(contents.root_.get(), kObjectsOfUser, O_RDONLY | O_DIRECTORY);
  if (!contents.objects_) return system_failure(kObjectsOfUser, "opened", errno);
  return contents;
}

Expected<Descriptor, FileError> UserContents::open_read(const ContentId& id) {
  const std::string path = id.text().insert(2, 1, '/');
  Descriptor file = open_entry(objects_.get(), path, O_RDONLY);
  if (file) return file;
  if (errno != ENOENT) return system_failure(path, "opened", errno);
  return Failure<FileError>{FileError::missing, "there is no content " + id.text()};
}

Expected<FileTree, FileError> UserContents::read_tree(const ContentId& id) {
  return tree_from(*this, id, kAnyTree);
}

Expected<KeptOutputs, FileError> UserContents::outputs() const {
  Descriptor folder = open_entry(root_.get(), kOutputs, O_RDONLY | O_DIRECTORY);
  if (!folder) return system_failure(kOutputs, "opened", errno);
  return KeptOutputs(std::move(folder));
}

void UserContents::touch_stage(const ContentId& tree) const {
  const std::string path = std::string(kStages) + "/" + tree.text();
  utimensat(root_.get(), path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

}  // namespace muster::files
