// Sends contents in the order of the tree: small ones many at a time, large ones in parts that the
// store puts together. The store says what it lacks, and is asked until it lacks nothing.

#include "tools/client/tree_upload.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "storage/files/path_text.hpp"
#include "tools/client/fields.hpp"

namespace muster::client {
namespace {

using files::ContentHasher;
using files::ContentId;
using files::EntryKind;
using files::FileError;
using files::FileTrouble;
using files::TreeEntry;

constexpr std::size_t kLengthBytes = 8;  ///< before each content of a body

StageFailure of_cluster(const Failure<ClientError>& failure) {
  return {failure.code == ClientError::stopped ? StageError::stopped : StageError::cluster,
          failure.message};
}

StageFailure not_understood(const std::string& why) {
  return {StageError::cluster,
          "the answer is not one of Muster's API as this version knows it: " + why};
}

StageFailure changed(const TreeEntry& entry) {
  return {StageError::changed, files::shown_path(entry.path) + ": changed since it was read"};
}

StageFailure unreadable(const TreeEntry& entry, const std::string& why) {
  return {StageError::folder, fmt::format("{}: {}", files::shown_path(entry.path), why)};
}

/// Bytes of the file from the offset on, fewer where it ends; nothing: errno says why.
std::optional<std::string> bytes_at(int file, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t count =
        pread(file, text.data() + got, bytes - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

bool has_id(int file, const TreeEntry& entry) {
  ContentHasher hasher;
  if (lseek(file, 0, SEEK_SET) != 0) return false;
  const auto trouble = files::read_exactly(file, entry.bytes, [&](std::string_view part) {
    hasher.add(part);
    return FileTrouble{};
  });
  return !trouble && hasher.finish() == entry.content;
}

}  // namespace

TreeUpload::TreeUpload(ApiClient& api, const files::FileTree& tree, const StageOptions& options,
                       StageProgress& progress)
    : api_(api),
      tree_(tree),
      manifest_(tree.encode()),
      id_(ContentId::of(manifest_)),
      options_(options),
      progress_(progress) {}

std::string TreeUpload::user_part(char before) const {
  return options_.user.empty() ? "" : fmt::format("{}user={}", before, url_escaped(options_.user));
}

StageTrouble TreeUpload::tell() const {
  if (!options_.progress || options_.progress(progress_)) return std::nullopt;
  return StageFailure{StageError::stopped, "stopped"};
}

StageTrouble TreeUpload::run(int folder) {
  folder_ = folder;
  std::set<ContentId> sent;
  int fruitless = 0;
  // Each turn sends a content of the tree that was not sent before, or is one of few.
  while (true) {
    const auto standing = ask();
    if (!standing) return standing.error();
    if (standing->complete) return std::nullopt;
    const auto& missing = standing->missing;
    const bool is_new = std::any_of(missing.begin(), missing.end(),
                                    [&](const ContentId& id) { return !sent.contains(id); });
    if (!is_new && ++fruitless > kMostFruitlessAsks) {
      return StageFailure{
          StageError::cluster,
          fmt::format("the store of files lacks contents that it has taken, such as {}: "
                      "look at the log of the node",
                      missing.empty() ? id_.text() : missing.front().text())};
    }
    if (auto trouble = send(missing)) return trouble;
    sent.insert(missing.begin(), missing.end());
  }
}

Expected<TreeUpload::Standing, StageError> TreeUpload::ask() {
  nlohmann::json asked{{"tree", id_.text()}};
  if (!options_.user.empty()) asked["user"] = options_.user;
  const auto answer = api_.post(
      "/v1/files/stages", asked.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
      options_.elsewhere);
  if (!answer) return of_cluster(answer.error());
  std::vector<std::string> missing;
  const auto complete = parsed(answer.value(), [&](const Fields& fields) {
    if (fields.has("missing")) missing = fields.texts("missing");
    return fields.truth("complete");
  });
  if (!complete) return of_cluster(complete.error());
  Standing standing{complete.value()};
  for (const std::string& text : missing) {
    const auto id = ContentId::parse(text);
    if (!id) return not_understood("/missing has to be ids of contents");
    standing.missing.push_back(id.value());
  }
  return standing;
}

StageTrouble TreeUpload::send(const std::vector<ContentId>& missing) {
  std::set<ContentId> wanted(missing.begin(), missing.end());
  if (wanted.erase(id_) > 0) {
    if (auto trouble = send_manifest()) return trouble;
  }
  std::vector<const TreeEntry*> to_send;
  for (const TreeEntry& entry : tree_.entries()) {
    if (entry.kind != EntryKind::file || wanted.erase(entry.content) == 0) continue;
    to_send.push_back(&entry);
    ++progress_.files_to_send;
    progress_.bytes_to_send += entry.bytes;
  }
  if (!wanted.empty()) {
    return not_understood("/missing has a content that is not of the tree: " +
                          wanted.begin()->text());
  }
  for (const TreeEntry* entry : to_send) {
    if (auto trouble = send_file(*entry)) return trouble;
  }
  return flush();
}

StageTrouble TreeUpload::send_manifest() {
  if (manifest_.size() <= kMostWhole) {
    if (auto trouble = add_whole(id_, manifest_)) return trouble;
    return flush();
  }
  Large large{id_, manifest_.size(), {}, [] { return true; }};
  large.read = [this](std::uint64_t offset, std::size_t bytes) {
    return Expected<std::string, StageError>(
        manifest_.substr(static_cast<std::size_t>(offset), bytes));
  };
  return send_large(large);
}

/// By the path, component after component, so that no link leads out of the folder.
Expected<files::Descriptor, StageError> TreeUpload::open_file(const TreeEntry& entry) const {
  files::Descriptor above;
  std::string_view left = entry.path;
  while (true) {
    const std::size_t slash = left.find('/');
    const bool last = slash == std::string_view::npos;
    const int in = above ? above.get() : folder_;
    files::Descriptor opened = files::open_entry(in, std::string(left.substr(0, slash)),
                                                 last ? O_RDONLY : O_RDONLY | O_DIRECTORY);
    if (!opened && (errno == EACCES || errno == EPERM || errno == EMFILE || errno == ENFILE ||
                    errno == ENOMEM || errno == EIO)) {
      return StageFailure{StageError::folder,
                          files::system_failure(entry.path, "opened", errno).message};
    }
    if (!opened) return changed(entry);
    if (last) return opened;
    above = std::move(opened);
    left.remove_prefix(slash + 1);
  }
}

StageTrouble TreeUpload::send_file(const TreeEntry& entry) {
  const auto file = open_file(entry);
  if (!file) return file.error();
  struct stat status {};
  if (fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != entry.bytes) {
    return changed(entry);
  }
  if (entry.bytes > kMostWhole) return send_large_file(entry, file->get());
  std::string content;
  content.reserve(static_cast<std::size_t>(entry.bytes));
  const auto trouble = files::read_exactly(file->get(), entry.bytes, [&](std::string_view part) {
    content += part;
    return FileTrouble{};
  });
  if (trouble && trouble->code == FileError::changed) return changed(entry);
  if (trouble) return unreadable(entry, trouble->message);
  if (ContentId::of(content) != entry.content) return changed(entry);
  return add_whole(entry.content, content);
}

StageTrouble TreeUpload::add_whole(const ContentId& id, std::string_view bytes) {
  // A body has one content at least, whatever the connection carries.
  const std::size_t cost = std::max(kLengthBytes + bytes.size(), kLeastCost);
  if (!body_.empty() && cost_ + cost > body_size_.bytes()) {
    if (auto trouble = flush()) return trouble;
  }
  std::uint64_t length = bytes.size();
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    body_ += static_cast<char>(length & 0xFFU);
    length >>= 8U;
  }
  body_ += bytes;
  ids_.push_back(id.text());
  cost_ += cost;
  whole_bytes_ += id == id_ ? 0 : bytes.size();
  return std::nullopt;
}

StageTrouble TreeUpload::flush() {
  if (ids_.empty()) return std::nullopt;
  const std::string path = "/v1/files/contents" + user_part('?');
  const auto answer = body_size_.timed([&] { return api_.post(path, body_, options_.elsewhere); });
  if (!answer) return of_cluster(answer.error());
  const auto taken =
      parsed(answer.value(), [](const Fields& fields) { return fields.texts("contents"); });
  if (!taken) return of_cluster(taken.error());
  if (taken.value() != ids_) {
    return not_understood("/contents has to be the ids of what was sent");
  }
  progress_.files_sent += ids_.size() - (ids_.front() == id_.text() ? 1 : 0);
  progress_.bytes_sent += whole_bytes_;
  body_.clear();
  ids_.clear();
  whole_bytes_ = 0;
  cost_ = 0;
  return tell();
}

StageTrouble TreeUpload::send_large_file(const TreeEntry& entry, int file) {
  Large large{entry.content, entry.bytes, {}, [&entry, file] { return has_id(file, entry); }};
  large.read = [&entry, file](std::uint64_t offset,
                              std::size_t bytes) -> Expected<std::string, StageError> {
    auto got = bytes_at(file, offset, bytes);
    if (!got) return unreadable(entry, files::system_failure("it", "read", errno).message);
    if (got->size() != bytes) return changed(entry);
    return *std::move(got);
  };
  const std::uint64_t before = progress_.bytes_sent;
  if (auto trouble = send_large(large)) {
    if (trouble->code != StageError::changed) return trouble;
    return changed(entry);
  }
  ++progress_.files_sent;
  progress_.bytes_sent = before + entry.bytes;
  return tell();
}

Expected<Answer, ClientError> TreeUpload::send_part(const Large& large, std::uint64_t offset,
                                                    const std::string& bytes) {
  const std::string path = fmt::format("/v1/files/parts?id={}&size={}&offset={}{}", large.id.text(),
                                       large.bytes, offset, user_part('&'));
  return part_size_.timed([&] { return api_.post(path, bytes, options_.elsewhere); });
}

Expected<TreeUpload::PartAnswer, StageError> TreeUpload::read_part_answer(
    const Large& large, const Answer& answer) const {
  const auto part = parsed(answer, [&](const Fields& fields) {
    return PartAnswer{fields.count("bytes", large.bytes), fields.truth("complete")};
  });
  if (!part) return of_cluster(part.error());
  return part.value();
}

StageTrouble TreeUpload::send_large(const Large& large) {
  const std::uint64_t sent_before = progress_.bytes_sent;
  std::uint64_t offset = 0;
  bool others_parts = false;  // of an earlier command, whose file may have been another one
  // Between two setbacks the offset grows, and it is bounded: the loop ends.
  for (int setbacks = 0; setbacks <= kMostSetbacks;) {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(part_size_.bytes(), large.bytes - offset));
    const auto part = large.read(offset, bytes);
    if (!part) return part.error();
    const auto answer = send_part(large, offset, part.value());
    if (!answer) {
      // All parts together were another content: this file's fault, or that of earlier parts,
      // which the store has dropped now.
      const bool was_last = offset + bytes == large.bytes;
      if (answer.error().code != ClientError::refused || !was_last) {
        return of_cluster(answer.error());
      }
      if (!large.is_intact()) return StageFailure{StageError::changed, answer.error().message};
      if (!std::exchange(others_parts, false)) return of_cluster(answer.error());
      offset = 0;
      ++setbacks;
      continue;
    }
    const auto now = read_part_answer(large, answer.value());
    if (!now) return now.error();
    if (now->complete) return std::nullopt;
    others_parts |= now->bytes > offset + bytes;
    if (now->bytes <= offset || now->bytes < offset + bytes) ++setbacks;
    offset = now->bytes;
    if (large.id != id_) progress_.bytes_sent = sent_before + offset;
    if (auto stopped = tell()) return stopped;
  }
  return StageFailure{
      StageError::cluster,
      fmt::format("the store of files does not get on with the content {}: it asked for "
                  "the same parts again and again",
                  large.id.text())};
}

}  // namespace muster::client
