// Moves the files of one attempt: those that it begins with from the store into its work folder,
// and its outputs into the store. A program of its own, so that shims do not grow by its libraries.
// It says on standard output why it fails, for its shim to report.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/folder_scan.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/tree_unpack.hpp"
#include "storage/files/user_files.hpp"
#include "storage/files/user_usage.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/shim/shim_files.hpp"

namespace muster::process {
namespace {

using files::FileError;
using files::FileTrouble;
using Failed = Failure<FileError>;

/// Patterns without a match that a report names.
constexpr std::size_t kMostNamed = 5;
/// Room that each file is counted with besides its bytes.
constexpr std::uint64_t kBytesOfEntry = 4096;

/// By the machine's clock, since 1970.
std::int64_t now_s() {
  return time(nullptr);  // NOLINT: a program of its own
}

int say(int code, const std::string& reason) {
  std::fputs(reason.c_str(), stdout);  // NOLINT: the shim reads it
  std::fflush(stdout);
  return code;
}

/// Files that are not there, or not as they should be, will not be so later.
int say(const Failed& failure) {
  const bool is_fault = failure.code == FileError::missing || failure.code == FileError::damaged ||
                        failure.code == FileError::invalid || failure.code == FileError::too_large;
  return say(is_fault ? kFilesFault : kFilesTrouble, failure.message);
}

/// Reads no content and makes no id: a scan with it looks at sizes alone.
class SizesOnly : public files::ContentSink {
 public:
  Expected<bool, FileError> has(const files::ContentId&, std::uint64_t) override { return false; }
  Expected<files::ContentId, FileError> put(int, std::uint64_t, const files::HearBytes&) override {
    return files::ContentId{};
  }
  FileTrouble finish() override { return std::nullopt; }
};

/// Waits while the folder of the store is not there, or does not answer as it should: as long as
/// the shim does.
void wait_for_store(const std::string& store) {
  constexpr unsigned kFirstPause_s = 1, kLongestPause_s = 16;
  bool said = false;
  for (unsigned pause_s = kFirstPause_s;;) {
    const auto fault = files::store_fault(store);
    if (!fault) return;
    // The line is told where the wait takes too long.
    if (!std::exchange(said, true)) say(kFilesTrouble, fault->message + "\n");
    sleep(pause_s);  // NOLINT: a program of its own, which its shim ends
    pause_s = std::min(2 * pause_s, kLongestPause_s);
  }
}

/// Removes what is damaged of the files that the task was to begin with, so that it is sent again
/// with the next submission.
void repair(const Order& order, const files::ContentId& tree) {
  const auto store = files::UserFiles::open_in(order.worker.files, order.user);
  if (store) store.value()->check_stage(tree);
}

FileTrouble bring_in(const Order& order, int attempt) {
  auto contents = files::UserContents::open_in(order.worker.files, order.user);
  const std::string gone = fmt::format("the files {} of '{}' are not in the store any more",
                                       order.program.stage, order.user);
  if (!contents && contents.error().code == FileError::missing) {
    return Failed{FileError::missing, gone};
  }
  if (!contents) return contents.error();
  const auto id = files::ContentId::parse(order.program.stage);
  if (!id) return id.error();
  const auto tree = contents->read_tree(id.value());
  if (!tree && tree.error().code == FileError::missing) return Failed{FileError::missing, gone};
  if (!tree) return tree.error();
  // First: a sweep that comes meanwhile is to see that it is used.
  contents->touch_stage(id.value());
  const auto work = files::made_folder_in(attempt, kWorkFolder);
  if (!work) return work.error();
  files::UnpackOptions options;
  options.verify = true;
  if (order.worker.user) options.owner = {*order.worker.user, order.worker.user_group};
  auto trouble = files::unpack_tree(tree.value(), work->get(), contents.value(), options);
  if (trouble && trouble->code == FileError::damaged) {
    repair(order, id.value());
    trouble->message += "; it is removed from the store: submit the job again, with its folder";
  }
  return trouble;
}

/// The patterns that match nothing of the tree.
std::vector<std::string> unmatched(const std::vector<files::PathPattern>& patterns,
                                   const files::FileTree& tree) {
  std::vector<bool> found(patterns.size(), false);
  for (const files::TreeEntry& entry : tree.entries()) {
    const files::PathLetters letters(entry.path);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      found[i] = found[i] || patterns[i].matches(letters);
    }
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!found[i]) missing.push_back(patterns[i].text());
  }
  return missing;
}

/// Of a failure that outputs are to have when they are missing.
std::string missing_text(const std::vector<std::string>& missing) {
  std::string text = "outputs are missing: nothing in its work folder matches";
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    text += (i == 0 ? " \"" : ", \"") + missing[i] + "\"";
  }
  if (missing.size() > kMostNamed) {
    text += fmt::format(" and {} other patterns", missing.size() - kMostNamed);
  }
  return text;
}

/// Puts the tree's text to its contents, and the record of the outputs behind both.
FileTrouble record(files::UserFiles& store, files::ObjectBatch& batch, const Order& order,
                   const files::ScannedFolder& found) {
  const auto id = batch.put_text(found.tree.encode());
  if (!id) return id.error();
  if (auto trouble = batch.finish()) return trouble;
  files::Outputs outputs;
  outputs.place = {order.task.array_index, order.attempt};
  outputs.tree = id.value();
  for (const files::TreeEntry& entry : found.tree.entries()) {
    if (entry.kind == files::EntryKind::file) ++outputs.files;
  }
  outputs.bytes = found.tree.content_bytes();
  outputs.kept_s = now_s();
  outputs.skipped = found.skipped_count;
  return store.outputs().put(order.job.value, outputs);
}

/// Nothing matched although it was to: the patterns.
Expected<std::vector<std::string>, FileError> keep(const Order& order, int attempt) {
  std::vector<files::PathPattern> patterns;
  for (const std::string& each : order.program.outputs) {
    auto pattern = files::PathPattern::compile(each);
    if (!pattern) return Failed{pattern.error().code, each + ": " + pattern.error().message};
    patterns.push_back(std::move(pattern).value());
  }
  auto store = files::UserFiles::open_in(order.worker.files, order.user);
  if (!store) return Failed{FileError::system, store.error().message};
  // The task's folder may be its user's who wishes harm: the scan goes by descriptors.
  const files::Descriptor work = files::open_entry(attempt, kWorkFolder, O_RDONLY | O_DIRECTORY);
  if (!work) return files::system_failure(kWorkFolder, "opened", errno);
  files::ObjectBatch batch(store.value()->contents());
  files::ScanOptions options;
  options.limits.content_bytes = order.worker.outputs_max_bytes;
  options.outputs = patterns;
  // First without the contents: a folder that is too large leaves nothing, and room is asked for.
  SizesOnly sizes;
  const auto looked = files::scan_folder(work.get(), sizes, options);
  if (!looked) return looked.error();
  const std::uint64_t bytes = looked->tree.content_bytes() + kBytesOfEntry * looked->count.files;
  if (auto trouble =
          files::reserve_bytes(*store.value(), bytes, order.worker.user_max_bytes, now_s())) {
    return Failed{FileError::too_large, trouble->message};
  }
  const auto found = files::scan_folder(work.get(), batch, options);
  if (!found) return found.error();
  if (!found->tree.entries().empty()) {
    if (auto trouble = record(*store.value(), batch, order, found.value())) {
      return Failed{FileError::system, trouble->message};
    }
  }
  return unmatched(patterns, found->tree);
}

int keep_outputs(const Order& order, int attempt) {
  const auto missing = keep(order, attempt);
  if (!missing) return say(missing.error());
  if (missing->empty() || order.program.optional_outputs) return kFilesDone;
  return say(kFilesMissing, missing_text(missing.value()));
}

int run(std::string_view way, const char* folder) {
  // Files belong to the task's user alone, or to the store.
  umask(077);
  const Descriptor attempt = open_folder(folder);
  if (!attempt) return say(kFilesTrouble, "the attempt's folder cannot be opened");
  const auto text = read_whole(attempt.get(), kOrderFile, kMaxRecordBytes);
  const auto order = text ? order_from(*text) : std::nullopt;
  if (!order) return say(kFilesTrouble, "the attempt's order cannot be read");
  if (order->worker.files.empty()) {
    return say(kFilesTrouble, "this machine has no way to the store of files");
  }
  wait_for_store(order->worker.files);
  if (way == kFilesOut) return keep_outputs(*order, attempt.get());
  if (auto trouble = bring_in(*order, attempt.get())) return say(*trouble);
  return kFilesDone;
}

}  // namespace
}  // namespace muster::process

int main(int argc, char** argv) {
  using namespace muster::process;
  const std::string_view way = argc == 3 ? argv[1] : "";
  if (way != kFilesIn && way != kFilesOut) {
    std::fputs("usage: muster-files in|out ATTEMPT_DIR\n", stderr);  // NOLINT: a program
    return 2;
  }
  // A shim that is gone hears no reason.
  signal(SIGPIPE, SIG_IGN);
  return run(way, argv[2]);
}
