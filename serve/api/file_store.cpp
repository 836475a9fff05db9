#include "serve/api/file_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "storage/files/object_batch.hpp"
#include "storage/files/user_usage.hpp"

namespace muster::api {
namespace {

using files::ContentId;
using files::FileTrouble;
using files::UserFiles;

constexpr double kMiB = 1024.0 * 1024;

/// As of a user who has nothing in the store.
template <class T>
Expected<T, files::FileError> nothing_yet(const Failure<files::FileError>& failure, T nothing) {
  if (failure.code != files::FileError::missing) return failure;
  return nothing;
}

}  // namespace

void FileStore::begin(std::function<void(const std::string&)> warn) {
  warn_ = std::move(warn);
  // A network file system that does not answer must not hold up the node.
  slow_.front().post([this] {
    if (auto fault = files::make_store(options_.folder)) {
      warn_("the store of files: " + fault->message);
    }
  });
}

void FileStore::post(const std::string& user, StoreWork work, Desk::Step step) {
  auto& desks = work == StoreWork::quick ? quick_ : slow_;
  desks[std::hash<std::string>{}(user) % kThreads].post(std::move(step));
}

void FileStore::stop() {
  for (Desk& desk : quick_) desk.stop();
  for (Desk& desk : slow_) desk.stop();
}

FileStore::Result<std::shared_ptr<UserFiles>> FileStore::open(const std::string& user) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(open_, user, &Open::user);
    if (found != open_.end()) {
      open_.splice(open_.begin(), open_, found);
      return found->files;
    }
  }
  // Without the lock, as it waits for the disk: another step of the user may open them meanwhile.
  auto opened = UserFiles::open_in(options_.folder, user);
  if (!opened) return opened.error();
  std::shared_ptr<UserFiles> files = std::move(opened).value();
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(open_, user, &Open::user);
  if (found != open_.end()) return found->files;
  open_.push_front({user, files});
  if (open_.size() > kMostOpen) open_.pop_back();
  return files;
}

/// Counts bytes that come: `no_space` when the user may have no more.
FileTrouble FileStore::make_room(const std::string& user, std::uint64_t bytes) {
  const auto files = open(user);
  if (!files) return files.error();
  return files::reserve_bytes(*files.value(), bytes, options_.user_max_bytes, options_.clock());
}

FileStore::Result<files::StagedTree> FileStore::stage(const std::string& user,
                                                      const ContentId& tree) {
  const auto files = open(user);
  if (!files) return files.error();
  files::TreeLimits limits;
  limits.content_bytes = options_.stage_max_bytes;
  auto staged = files.value()->stage(tree, limits, kMostMissing);
  if (staged || staged.error().code != files::FileError::too_large) return staged;
  return Failure<files::FileError>{
      files::FileError::too_large,
      fmt::format("the folder is more than a job may begin with: {} (files.stage_max_mib of the "
                  "cluster file)",
                  staged.error().message)};
}

FileStore::Result<std::vector<ContentId>> FileStore::put(
    const std::string& user, const std::vector<std::string_view>& contents) {
  std::uint64_t bytes = 0;
  for (const std::string_view content : contents) bytes += files::counted_bytes(content.size());
  if (auto trouble = make_room(user, bytes)) return *trouble;
  const auto files = open(user);
  if (!files) return files.error();
  files::ObjectBatch batch(files.value()->contents());
  std::vector<ContentId> ids;
  ids.reserve(contents.size());
  for (const std::string_view content : contents) {
    const auto id = batch.put_text(content);
    if (!id) return id.error();
    ids.push_back(id.value());
  }
  if (auto trouble = batch.finish()) return *trouble;
  return ids;
}

FileStore::Result<files::PartsThere> FileStore::add_part(const std::string& user,
                                                         const files::ContentPart& part) {
  if (part.size > options_.stage_max_bytes) {
    return Failure<files::FileError>{
        files::FileError::too_large,
        fmt::format("a content of {:.0f} MiB is more than the {:.0f} that a job may begin with "
                    "(files.stage_max_mib)",
                    static_cast<double>(part.size) / kMiB,
                    static_cast<double>(options_.stage_max_bytes) / kMiB)};
  }
  if (auto trouble = make_room(user, part.bytes.size())) return *trouble;
  const auto files = open(user);
  if (!files) return files.error();
  return files::add_part(*files.value(), part);
}

FileStore::Result<bool> FileStore::use_stage(const std::string& user, const ContentId& tree) {
  const auto files = open(user);
  if (!files) return files.error();
  return files.value()->use_stage(tree);
}

void FileStore::pin(const std::string& user, std::uint64_t job, const ContentId& tree) {
  const auto files = open(user);
  const auto trouble = files ? files.value()->pin(job, tree) : FileTrouble(files.error());
  if (!trouble || !warn_) return;
  warn_(fmt::format("the files of job {} may go before it is over, after files.stage_keep_days: {}",
                    job, trouble->message));
}

FileStore::Result<std::optional<ContentId>> FileStore::pinned(const std::string& user,
                                                              std::uint64_t job) {
  // A user without files gets no folders for it.
  const auto any = files::UserContents::open_in(options_.folder, user);
  if (!any) return nothing_yet(any.error(), std::optional<ContentId>{});
  const auto files = open(user);
  if (!files) return files.error();
  return files.value()->pinned(job);
}

FileStore::Result<std::vector<files::Outputs>> FileStore::outputs(const std::string& user,
                                                                  std::uint64_t job,
                                                                  files::OutputsPlace from,
                                                                  std::size_t most) const {
  // Without a write: a question must not make a user's folders.
  const auto contents = files::UserContents::open_in(options_.folder, user);
  if (!contents) return nothing_yet(contents.error(), std::vector<files::Outputs>{});
  const auto kept = contents->outputs();
  if (!kept) return nothing_yet(kept.error(), std::vector<files::Outputs>{});
  return kept->list(job, from, most);
}

FileStore::Result<std::string> FileStore::read(const std::string& user, const Piece& piece) const {
  auto contents = files::UserContents::open_in(options_.folder, user);
  if (!contents) return contents.error();
  const auto file = contents->open_read(piece.id);
  if (!file) return file.error();
  std::string bytes(piece.most, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = pread(file->get(), bytes.data() + size, bytes.size() - size,
                              static_cast<off_t>(piece.offset + size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return files::system_failure(piece.id.text(), "read", errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace muster::api
