#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api/desk.hpp"
#include "storage/files/content_parts.hpp"
#include "storage/files/user_files.hpp"

namespace muster::api {

/// Where users' files are, and how much a user may have there.
struct FileStoreOptions {
  std::filesystem::path folder;
  std::uint64_t stage_max_bytes = std::uint64_t{16} << 30;
  std::uint64_t user_max_bytes = std::uint64_t{256} << 30;
  /// Families of instance types whose machines have no way to the store: jobs with files keep off
  /// them.
  std::vector<std::string> families_away{};
  bool all_are_away = false;  ///< no instance of the cluster has a way to the store
  /// In seconds since 1970.
  std::function<std::int64_t()> clock = [] { return std::int64_t{0}; };
};

/// How long a step on the store may take: files that come may wait for the disk or for others, and
/// must not keep those waiting whose jobs only name them.
enum class StoreWork : std::uint8_t { quick, slow };

/// The store of users' files as the API uses it. But for post() and begin(), which any thread may
/// call, every function waits for the disk and belongs onto a thread of the store.
class FileStore {
 public:
  template <class T>
  using Result = Expected<T, files::FileError>;

  /// Ids of one answer, and contents of one request.
  static constexpr std::size_t kMostMissing = 10'000;
  static constexpr std::size_t kMostContents = 10'000;

  explicit FileStore(FileStoreOptions options) : options_(std::move(options)) {}
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;

  /// Makes the store where it is missing, on a thread of its own; `warn` hears why it cannot be,
  /// and later what is not done that no request waits for.
  void begin(std::function<void(const std::string&)> warn);
  /// Has the step done on the thread that the user's files have for such work, one step after the
  /// other.
  void post(const std::string& user, StoreWork work, Desk::Step step);
  /// Ends the threads; steps that wait are dropped.
  void stop();

  Result<files::StagedTree> stage(const std::string& user, const files::ContentId& tree);
  /// Contents as their bytes; their ids. All are durable.
  Result<std::vector<files::ContentId>> put(const std::string& user,
                                            const std::vector<std::string_view>& contents);
  Result<files::PartsThere> add_part(const std::string& user, const files::ContentPart& part);
  /// Whether jobs of the user may begin with the tree.
  Result<bool> use_stage(const std::string& user, const files::ContentId& tree);
  /// The job begins with the tree, which is kept for it.
  void pin(const std::string& user, std::uint64_t job, const files::ContentId& tree);
  /// The tree that the job begins with, as far as it is known; nothing: it may begin with no files.
  Result<std::optional<files::ContentId>> pinned(const std::string& user, std::uint64_t job);
  Result<std::vector<files::Outputs>> outputs(const std::string& user, std::uint64_t job,
                                              files::OutputsPlace from, std::size_t most) const;
  /// A piece of a content of the user.
  struct Piece {
    files::ContentId id{};
    std::uint64_t offset = 0;
    std::size_t most = 0;
  };
  Result<std::string> read(const std::string& user, const Piece& piece) const;

  const FileStoreOptions& options() const { return options_; }

 private:
  static constexpr std::size_t kThreads = 4;
  /// Users whose part of the store is held open.
  static constexpr std::size_t kMostOpen = 64;
  struct Open {
    std::string user;
    std::shared_ptr<files::UserFiles> files;
  };

  Result<std::shared_ptr<files::UserFiles>> open(const std::string& user);
  files::FileTrouble make_room(const std::string& user, std::uint64_t bytes);

  const FileStoreOptions options_;
  std::mutex mutex_;
  std::list<Open> open_;  ///< the last used first
  std::function<void(const std::string&)> warn_;
  std::array<Desk, kThreads> quick_, slow_;
};

}  // namespace muster::api
