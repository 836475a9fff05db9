// How a command beside a task gets to the task's shim: a request of any length is a file in memory,
// whose descriptor comes with those of the command's streams.

#include "workers/process/shim/shim_beside.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::process {
namespace {

constexpr std::size_t kMostDescriptors = 4;

struct Ancillary {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> bytes{};
};

/// Writes all of it into a file of its own in memory.
Descriptor file_with(const std::string& bytes) {
  Descriptor file(memfd_create("muster-beside", MFD_CLOEXEC));
  if (!file ||
      pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return {};
  }
  return file;
}

std::optional<std::string> content_of(int file) {
  struct stat found {};
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size <= 0 ||
      static_cast<std::size_t>(found.st_size) > kMostBesideBytes) {
    return std::nullopt;
  }
  std::string bytes(static_cast<std::size_t>(found.st_size), '\0');
  const ssize_t got = pread(file, bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  return bytes;
}

std::vector<Descriptor> descriptors_in(msghdr& message) {
  std::vector<Descriptor> all;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      all.emplace_back(descriptor);
    }
  }
  return all;
}

}  // namespace

std::string to_bytes(const BesideRequest& request) {
  std::string bytes = request.terminal ? "t" : "p";
  bytes += request.term + '\0';
  for (const std::string& word : request.argv) bytes += word + '\0';
  return bytes;
}

std::optional<BesideRequest> beside_from(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.back() != '\0') return std::nullopt;
  if (bytes.front() != 't' && bytes.front() != 'p') return std::nullopt;
  BesideRequest request;
  request.terminal = bytes.front() == 't';
  bytes.remove_prefix(1);
  const auto next = [&bytes] {
    const std::size_t end = bytes.find('\0');
    std::string text(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    return text;
  };
  request.term = next();
  while (!bytes.empty()) request.argv.push_back(next());
  if (request.argv.empty() || request.argv.front().empty()) return std::nullopt;
  return request;
}

bool send_beside(int connection, const BesideRequest& request, const std::vector<int>& streams) {
  const Descriptor file = file_with(to_bytes(request));
  if (!file || streams.size() >= kMostDescriptors) return false;
  std::vector<int> all{file.get()};
  all.insert(all.end(), streams.begin(), streams.end());
  char byte = '!';
  iovec content{&byte, 1};
  Ancillary room;
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = CMSG_SPACE(all.size() * sizeof(int));
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(all.size() * sizeof(int));
  std::memcpy(CMSG_DATA(part), all.data(), all.size() * sizeof(int));
  return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

std::optional<BesideAsked> take_beside(int connection) {
  char byte = 0;
  iovec content{&byte, 1};
  Ancillary room;
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  const ssize_t got = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return std::nullopt;
  std::vector<Descriptor> all = descriptors_in(message);
  errno = EBADMSG;
  if (got != 1 || all.size() < 2 || (message.msg_flags & MSG_CTRUNC) != 0) return std::nullopt;
  const auto bytes = content_of(all.front().get());
  auto request = bytes ? beside_from(*bytes) : std::nullopt;
  if (!request || all.size() != (request->terminal ? 2U : 4U)) {
    errno = EBADMSG;
    return std::nullopt;
  }
  all.erase(all.begin());
  return BesideAsked{*std::move(request), std::move(all)};
}

}  // namespace muster::process
