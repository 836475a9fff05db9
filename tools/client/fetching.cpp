#include "tools/client/fetching.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "storage/files/folder_scan.hpp"
#include "storage/files/path_text.hpp"
#include "tools/client/content_download.hpp"
#include "tools/client/fields.hpp"
#include "tools/client/target_folder.hpp"

namespace muster::client {
namespace {

using files::ContentId;
using files::FileError;
using FetchFailure = Failure<FetchError>;

constexpr std::size_t kOutputsAtOnce = 1'000;

/// A page of a job's outputs.
struct OutputsPage {
  std::vector<TaskOutputs> outputs;
  std::string next;  ///< where the next one begins; empty: it is the last one
  std::optional<std::string> bad_tree;
};

Parsed<OutputsPage> outputs_page(const Answer& answer) {
  OutputsPage page;
  const auto read = parsed(answer, [&](const Fields& fields) {
    page.outputs = fields.list("outputs", [&](const Fields& each) {
      TaskOutputs one{.task = each.count("task"), .attempt = each.count("attempt")};
      const std::string tree = each.text("tree");
      if (const auto id = ContentId::parse(tree)) {
        one.tree = id.value();
      } else {
        page.bad_tree = tree;
      }
      one.files = each.count("files");
      one.bytes = each.count("bytes");
      one.kept_s = each.whole("kept_s");
      one.skipped = each.has("skipped") ? each.count("skipped") : 0;
      return one;
    });
    if (fields.has("next")) page.next = fields.text_or_null("next");
    return true;
  });
  if (!read) return read.error();
  if (!page.bad_tree) return page;
  return Failure<ClientError>{
      ClientError::malformed,
      fmt::format("the answer has outputs whose tree is no id: '{}'", *page.bad_tree)};
}

bool is_before(const TaskOutputs& one, const TaskOutputs& other) {
  return std::pair(one.task, one.attempt) < std::pair(other.task, other.attempt);
}

/// Adds the outputs if they are wanted.
void choose(const OutputsWish& wish, const TaskOutputs& one, std::vector<TaskOutputs>& chosen) {
  if (wish.task && one.task != *wish.task) return;
  if (wish.attempt && one.attempt != *wish.attempt) return;
  const bool replaces = !wish.all && !chosen.empty() && chosen.back().task == one.task;
  if (replaces) chosen.pop_back();
  chosen.push_back(one);
}

FetchError error_of(const Failure<ClientError>& failure) {
  return failure.code == ClientError::stopped ? FetchError::stopped : FetchError::cluster;
}

FetchError error_of(FileError error) {
  switch (error) {
    case FileError::damaged:
    case FileError::invalid:
    case FileError::missing:
      return FetchError::damaged;
    case FileError::stopped:
      return FetchError::stopped;
    default:
      return FetchError::target;
  }
}

/// The tree as unpacking leaves it: each file may be read and written by its owner.
files::FileTree as_unpacked(const files::FileTree& tree) {
  constexpr std::uint16_t kOwnerBits = 0600;
  std::vector<files::TreeEntry> entries = tree.entries();
  for (files::TreeEntry& entry : entries) {
    if (entry.kind == files::EntryKind::file) entry.mode |= kOwnerBits;
  }
  auto made = files::FileTree::of(std::move(entries));
  // They were those of a tree.
  return made ? std::move(made).value() : tree;
}

/// Whether the open folder holds exactly the tree. Reads no more than the tree is; `stopped` when
/// the progress function says so.
Expected<bool, FetchError> holds(int folder, const files::FileTree& tree, const FetchOrder& order) {
  const files::FileTree wanted = as_unpacked(tree);
  files::ScanOptions scan;
  scan.limits.entries = wanted.entries().size();
  scan.limits.content_bytes = wanted.content_bytes();
  scan.most_looked_at = wanted.entries().size();
  scan.progress = [&](const files::ScanCount&) { return !order.progress || order.progress({}); };
  files::HashingSink sink;
  const auto scanned = files::scan_folder(folder, sink, scan);
  if (!scanned && scanned.error().code == FileError::stopped) {
    return FetchFailure{FetchError::stopped, "stopped"};
  }
  // A folder that no tree can have is another one, too.
  return scanned && scanned->tree.entries() == wanted.entries();
}

/// One fetching of a tree into a folder.
class TreeFetch {
 public:
  TreeFetch(ApiClient& api, const FetchOrder& order) : api_(api), order_(order) {}

  Expected<Fetched, FetchError> run() {
    auto target = TargetFolder::open(order_.target);
    if (!target) return FetchFailure{FetchError::target, target.error().message};
    const auto tree = read_tree(api_, order_.job, order_.tree);
    if (!tree) return tree.error();
    Fetched done;
    for (const files::TreeEntry& entry : tree->entries()) {
      if (entry.kind == files::EntryKind::file) ++done.files;
    }
    done.bytes = tree->content_bytes();
    if (target->has_files()) {
      const auto is_there = holds(target->present(), tree.value(), order_);
      if (!is_there) return is_there.error();
      if (is_there.value()) {
        done.was_there = true;
        return done;
      }
      if (!order_.force) {
        return FetchFailure{
            FetchError::target,
            fmt::format("{} exists and has other files: give another folder (-o), or "
                        "--force to replace it",
                        shown())};
      }
    }
    if (auto trouble = fill(target.value(), tree.value())) return *trouble;
    auto replaced = target->put_in_place();
    if (!replaced) return FetchFailure{error_of(replaced.error().code), replaced.error().message};
    done.not_removed = std::move(replaced).value();
    return done;
  }

 private:
  std::string shown() const { return files::shown_path(order_.target.string()); }

  std::optional<FetchFailure> fill(TargetFolder& target, const files::FileTree& tree) {
    if (auto trouble = target.make_new()) return FetchFailure{FetchError::target, trouble->message};
    ContentDownload download(api_, order_.job);
    DownloadedContents contents(download, tree, target.parent());
    files::UnpackOptions options;
    options.verify = true;
    options.progress = order_.progress;
    const auto trouble = files::unpack_tree(tree, target.fresh(), contents, options);
    if (!trouble) return std::nullopt;
    const std::string message = fmt::format("{}/{}", shown(), trouble->message);
    const auto& of_api = contents.api_trouble();
    return FetchFailure{of_api ? error_of(*of_api) : error_of(trouble->code), message};
  }

  ApiClient& api_;
  const FetchOrder& order_;
};

}  // namespace

Parsed<std::vector<TaskOutputs>> list_outputs(ApiClient& api, const OutputsWish& wish) {
  std::vector<TaskOutputs> chosen;
  std::optional<TaskOutputs> last;
  std::string from = wish.task ? fmt::format("{}.0", *wish.task) : "";
  // Each page goes on behind the one before it, and the number of outputs is bounded.
  while (true) {
    const auto answer =
        api.get(fmt::format("/v1/jobs/{}/outputs?limit={}{}{}", wish.job, kOutputsAtOnce,
                            from.empty() ? "" : "&from=", url_escaped(from)));
    if (!answer) return answer.error();
    const auto page = outputs_page(answer.value());
    if (!page) return page.error();
    for (const TaskOutputs& one : page->outputs) {
      if (last && !is_before(*last, one)) {
        return Failure<ClientError>{ClientError::malformed,
                                    "the answer's outputs are not in the order of their tasks"};
      }
      last = one;
      if (wish.task && one.task > *wish.task) return chosen;
      choose(wish, one, chosen);
    }
    if (page->next.empty()) return chosen;
    if (page->outputs.empty() || chosen.size() > kMostOutputsListed) {
      return Failure<ClientError>{
          page->outputs.empty() ? ClientError::malformed : ClientError::refused,
          page->outputs.empty()
              ? std::string("the answer has no outputs and says that others follow")
              : fmt::format("job {} has more than {} outputs: name a task", wish.job,
                            kMostOutputsListed)};
    }
    from = page->next;
  }
}

Expected<files::FileTree, FetchError> read_tree(ApiClient& api, std::uint64_t job,
                                                const ContentId& tree) {
  const files::TreeLimits limits;
  std::string text;
  const auto trouble =
      ContentDownload(api, job).get(tree, limits.manifest_bytes, [&](std::string_view piece) {
        text += piece;
        return true;
      });
  if (trouble) return FetchFailure{error_of(*trouble), trouble->message};
  if (ContentId::of(text) != tree) {
    return FetchFailure{FetchError::damaged,
                        fmt::format("the list of files {} is not as its id says", tree.text())};
  }
  auto decoded = files::FileTree::decode(text, limits);
  if (decoded) return std::move(decoded).value();
  return FetchFailure{FetchError::damaged,
                      fmt::format("{} is no list of files that Muster makes: {}", tree.text(),
                                  decoded.error().message)};
}

Expected<Fetched, FetchError> fetch_tree(ApiClient& api, const FetchOrder& order) {
  return TreeFetch(api, order).run();
}

}  // namespace muster::client
