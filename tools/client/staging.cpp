#include "tools/client/staging.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "storage/files/folder_scan.hpp"
#include "storage/files/path_text.hpp"
#include "tools/client/tree_upload.hpp"

namespace muster::client {
namespace {

namespace fs = std::filesystem;
using files::ContentId;
using files::FileError;

/// Readings of a folder whose files change before they are sent.
constexpr int kMostScans = 3;

/// The clock of the machine, which stamps files, too.
std::chrono::sys_time<std::chrono::nanoseconds> scan_begin() {
  return std::chrono::system_clock::now();  // NOLINT: see above
}

/// Where the ids of the folder's files are kept; empty: nowhere.
fs::path memory_file(const fs::path& folder, const fs::path& memory) {
  if (memory.empty()) return {};
  std::error_code failed;
  const fs::path whole = fs::canonical(folder, failed);
  if (failed) return {};
  // It names the user's files: others are not to read it.
  if (fs::create_directories(memory, failed) && !failed) {
    fs::permissions(memory, fs::perms::owner_all, failed);
  }
  return failed ? fs::path() : memory / ContentId::of(whole.string()).text();
}

/// One staging of a folder.
class FolderStaging {
 public:
  FolderStaging(ApiClient& api, const fs::path& folder, const StageOptions& options)
      : api_(api), folder_(folder), options_(options) {}

  Expected<Staged, StageError> run() {
    auto opened = files::open_folder(folder_);
    if (!opened) {
      return StageFailure{
          StageError::folder,
          opened.error().message + "; `stage` has to name a folder that can be read"};
    }
    memory_file_ = memory_file(folder_, options_.memory);
    StageTrouble changed;
    for (int scans = 0; scans < kMostScans; ++scans) {
      auto scanned = scan(opened->get(), scans == 0);
      if (!scanned) return scanned.error();
      TreeUpload upload(api_, scanned->tree, options_, progress_);
      auto trouble = upload.run(opened->get());
      if (!trouble) {
        return Staged{scanned->tree.id(), scanned->count.files, scanned->tree.content_bytes(),
                      progress_.files_sent, progress_.bytes_sent};
      }
      if (trouble->code != StageError::changed) return named(*trouble);
      changed = std::move(trouble);
    }
    return StageFailure{
        StageError::changed,
        fmt::format("{}/{}, each of the {} times that the folder was read; stage a "
                    "folder that is not being written to, or name the file in its {}",
                    shown(), changed->message, kMostScans, files::kIgnoreFile)};
  }

 private:
  std::string shown() const { return files::shown_path(folder_.string()); }
  StageFailure named(const StageFailure& failure) const {
    return {failure.code, fmt::format("{}: {}", shown(), failure.message)};
  }

  /// A file that changed without a change of its stamp is found only without the memory.
  Expected<files::ScannedFolder, StageError> scan(int folder, bool trusts_memory) {
    auto rules = files::IgnoreRules::of_folder(folder);
    if (!rules) return named({StageError::folder, rules.error().message});
    const bool remembers = !memory_file_.empty();
    auto memory = remembers && trusts_memory ? files::ScanMemory::read(memory_file_, scan_begin())
                                             : files::ScanMemory(scan_begin());
    files::ScanOptions scan;
    scan.limits = options_.limits;
    scan.ignore = std::move(rules).value();
    if (remembers) scan.memory = &memory;
    // Of a folder that is read again the files count once.
    scan.progress = [this](const files::ScanCount& count) {
      progress_.files_read = count.files;
      progress_.bytes_read = count.bytes_read;
      return !options_.progress || options_.progress(progress_);
    };
    files::HashingSink sink;
    auto scanned = files::scan_folder(folder, sink, scan);
    if (!scanned) {
      const bool stopped = scanned.error().code == FileError::stopped;
      return named({stopped ? StageError::stopped : StageError::folder, scanned.error().message});
    }
    // Without the file the next scan only takes longer.
    if (remembers && scanned->count.files_read > 0) memory.write(memory_file_);
    return std::move(scanned).value();
  }

  ApiClient& api_;
  const fs::path& folder_;
  const StageOptions& options_;
  fs::path memory_file_;
  StageProgress progress_;
};

}  // namespace

Expected<Staged, StageError> stage_folder(ApiClient& api, const fs::path& folder,
                                          const StageOptions& options) {
  return FolderStaging(api, folder, options).run();
}

fs::path stage_memory_folder(const Environment& environment) {
  const fs::path below = fs::path("muster") / "stage";
  // As the XDG rules have it, a relative path counts for nothing.
  if (const auto cache = environment("XDG_CACHE_HOME"); cache && fs::path(*cache).is_absolute()) {
    return fs::path(*cache) / below;
  }
  const auto home = environment("HOME");
  return home && fs::path(*home).is_absolute() ? fs::path(*home) / ".cache" / below : fs::path();
}

bool is_tree_id(const std::string& stage) {
  return ContentId::parse(stage).has_value();
}

}  // namespace muster::client
