#include "tools/client/content_download.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace muster::client {

namespace {

using files::ContentId;
using files::FileError;

}  // namespace

ContentDownload::Trouble ContentDownload::get(const ContentId& id, std::uint64_t most,
                                              const Take& take) {
  const Failure<ClientError> too_large{
      ClientError::malformed,
      fmt::format("the content {} has more than the expected {} bytes", id.text(), most)};
  // Each turn has all that it asked for, until there is more than the bound or an end.
  for (std::uint64_t offset = 0;;) {
    const std::size_t asked = size_.bytes();
    const auto answer = size_.timed([&] {
      return api_.get_bytes(fmt::format("/v1/jobs/{}/contents?id={}&offset={}&max={}", job_,
                                        id.text(), offset, asked));
    });
    if (!answer) return answer.error();
    const std::string& bytes = answer->bytes;
    if (bytes.size() > asked) {
      return Failure<ClientError>{
          ClientError::malformed,
          fmt::format("asked for {} bytes of a content, the API sent {}", asked, bytes.size())};
    }
    offset += bytes.size();
    if (offset > most) return too_large;
    if (!take(bytes)) return Failure<ClientError>{ClientError::stopped, "stopped"};
    if (bytes.size() < asked) return std::nullopt;
  }
}

DownloadedContents::DownloadedContents(ContentDownload& download, const files::FileTree& tree,
                                       int folder)
    : download_(download), folder_(folder) {
  for (const files::TreeEntry& entry : tree.entries()) {
    if (entry.kind == files::EntryKind::file) sizes_.emplace(entry.content, entry.bytes);
  }
}

Expected<files::Descriptor, FileError> DownloadedContents::unnamed_file() const {
  files::Descriptor file(openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Some file systems have no O_TMPFILE.
  const std::string name = ".muster-" + random_token();
  file = files::Descriptor(
      openat(folder_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return files::system_failure("a file for what is downloaded", "made", errno);
  unlinkat(folder_, name.c_str(), 0);
  return file;
}

Expected<files::Descriptor, FileError> DownloadedContents::open_read(const ContentId& id) {
  const auto size = sizes_.find(id);
  if (size == sizes_.end()) {
    return Failure<FileError>{FileError::missing, "the tree has no content " + id.text()};
  }
  auto file = unnamed_file();
  if (!file) return file;
  int error = 0;
  const auto trouble = download_.get(id, size->second, [&](std::string_view piece) {
    error = files::write_all(file->get(), piece);
    return error == 0;
  });
  if (error != 0) return files::system_failure("the download", "written", error);
  if (trouble) {
    api_trouble_ = trouble;
    const bool is_missing = trouble->code == ClientError::not_found;
    return Failure<FileError>{is_missing ? FileError::missing : FileError::unreadable,
                              trouble->message};
  }
  if (lseek(file->get(), 0, SEEK_SET) != 0) {
    return files::system_failure("the download", "read", errno);
  }
  return file;
}

}  // namespace muster::client
