// The shim's sockets and the lines on them. Workers find the shim by an abstract name, which goes
// with the process; the task finds its socket in its attempt's folder, as far as the path is short
// enough.

#include "workers/process/shim/shim_sockets.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "model/hexadecimal.hpp"
#include "workers/process/shim/line_server.hpp"

namespace muster::process {
namespace {

constexpr int kBacklog = 16;
/// Tries and pauses of write_patiently(): 20 s in all.
constexpr int kWriteTries = 100;
constexpr timespec kWritePause{0, 200'000'000};
constexpr std::string_view kProgressVerb = "progress ";
constexpr std::string_view kMetricsVerb = "metrics";

struct Address {
  sockaddr_un socket{};
  socklen_t size = 0;
};

/// The address of a path, or of an abstract name; nothing when it is too long.
std::optional<Address> address_of(const std::string& name, bool abstract) {
  Address address;
  address.socket.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof address.socket.sun_path) return std::nullopt;
  // An abstract name begins with NUL and has no end; the length says where it ends.
  std::memcpy(address.socket.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  return address;
}

// Does not block: the shim waits in one poll() for everything.
Descriptor new_socket() {
  return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void make_folders_above(const std::string& path, mode_t mode) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string above = path.substr(0, at);
    // mkdir() has taken the umask off.
    if (mkdir(above.c_str(), mode) == 0) chmod(above.c_str(), mode);
  }
}

Descriptor listen_at(const std::optional<Address>& address) {
  Descriptor listener = new_socket();
  if (!address || !listener ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address->socket), address->size) !=
          0 ||
      listen(listener.get(), kBacklog) != 0) {
    return {};
  }
  return listener;
}

}  // namespace

std::string random_name() {
  // Empty when there is no randomness: no socket can then be made by that name.
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return "";
  return "muster-" + hexadecimal(bytes);
}

Descriptor listen_abstract(const std::string& name) {
  return listen_at(address_of(name, true));
}

Descriptor connect_abstract(const std::string& name) {
  const auto address = address_of(name, true);
  Descriptor connection = new_socket();
  if (!address || !connection ||
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&address->socket),
              address->size) != 0 ||
      // Abstract names are open to every user of the machine: only an own process is trusted.
      user_of_peer(connection.get()) != geteuid()) {
    return {};
  }
  return connection;
}

std::pair<Descriptor, std::string> listen_for_task(int folder, const std::string& path,
                                                   const WorkerTerms& worker) {
  const std::string whole = path + "/" + kProgressSocket;
  if (const auto address = address_of(whole, false)) {
    Descriptor listener = listen_at(address);
    if (worker.user && listener) {
      fchownat(folder, kProgressSocket, *worker.user, worker.user_group, AT_SYMLINK_NOFOLLOW);
    }
    return {std::move(listener), whole};
  }
  // A path has at most 107 bytes in an address; an abstract name is short.
  const std::string name = random_name();
  return {listen_abstract(name), "@" + name};
}

int make_task_folder(const std::string& path, const WorkerTerms& worker) {
  const auto make = [&path] {
    return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
  };
  int error = make();
  if (error == ENOENT) {
    // A task of another user has to get through to what is its own, and no further.
    make_folders_above(path, worker.user ? 0711 : 0700);
    error = make();
  }
  if (error != 0) return error;
  if (!worker.user) return 0;
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  return folder && fchown(folder.get(), *worker.user, worker.user_group) == 0 ? 0 : errno;
}

int write_script(int folder, const Order& order) {
  if (const int error = write_new(folder, kScriptFile, order.program.script, false); error != 0) {
    return error;
  }
  const Descriptor file(openat(folder, kScriptFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return errno;
  const WorkerTerms& worker = order.worker;
  if (worker.user && fchown(file.get(), *worker.user, worker.user_group) != 0) return errno;
  return fchmod(file.get(), 0500) == 0 ? 0 : errno;
}

std::string progress_line(const ProgressPoint& point) {
  // 17 digits are enough to read the same double again.
  std::array<char, 256> text{};
  int size = std::snprintf(text.data(), text.size(), "progress %lld %.17g",
                           static_cast<long long>(point.at.count()), point.units);
  std::string line(text.data(), static_cast<std::size_t>(size));
  if (const auto& step = point.step) {
    size = std::snprintf(text.data(), text.size(), " step %u %u %.17g %.17g %.17g %.17g",
                         step->local_batch, step->accumulation, step->step_s, step->sync_s,
                         step->grad_sqr, step->grad_var);
    line.append(text.data(), static_cast<std::size_t>(size));
  }
  return line + '\n';
}

std::optional<ProgressPoint> point_from(std::string_view line) {
  if (!line.starts_with(kProgressVerb)) return std::nullopt;
  line.remove_prefix(kProgressVerb.size());
  ProgressPoint point;
  std::int64_t at = 0;
  const char* end = line.data() + line.size();
  const auto time = std::from_chars(line.data(), end, at);
  // The whole line has to fit: anything else is none of the shim's.
  if (time.ec != std::errc{} || time.ptr == end || *time.ptr != ' ') return std::nullopt;
  const auto units = std::from_chars(time.ptr + 1, end, point.units);
  if (units.ec != std::errc{}) return std::nullopt;
  point.at = Duration{at};
  if (units.ptr == end) return point;
  if (*units.ptr != ' ') return std::nullopt;
  point.step = step_from(line.substr(static_cast<std::size_t>(units.ptr + 1 - line.data())));
  return point.step ? std::optional(point) : std::nullopt;
}

std::string metrics_line(const Metrics& metrics) {
  std::string line(kMetricsVerb);
  std::array<char, 32> value{};
  for (const auto& [name, number] : metrics) {
    const int size = std::snprintf(value.data(), value.size(), "=%.17g", number);
    line += ' ' + name;
    line.append(value.data(), static_cast<std::size_t>(size));
  }
  return line + '\n';
}

std::optional<Metrics> metrics_from(std::string_view line) {
  if (!line.starts_with(kMetricsVerb)) return std::nullopt;
  line.remove_prefix(kMetricsVerb.size());
  Metrics metrics;
  while (!line.empty()) {
    const std::size_t is = line.find('=');
    if (line.front() != ' ' || is == std::string_view::npos) return std::nullopt;
    double value = 0;
    const auto parsed = std::from_chars(line.data() + is + 1, line.data() + line.size(), value);
    if (parsed.ec != std::errc{}) return std::nullopt;
    metrics.emplace_back(line.substr(1, is - 1), value);
    line.remove_prefix(static_cast<std::size_t>(parsed.ptr - line.data()));
  }
  // Of another version's shim: nothing that cannot be told further.
  return are_metrics(metrics) ? std::optional(std::move(metrics)) : std::nullopt;
}

bool write_patiently(int folder, std::string_view result) {
  for (int i = 0; i < kWriteTries; ++i) {
    const int error = write_whole(folder, kResultFile, result, false);
    if (error == 0) return true;
    if (i == 0) std::fprintf(stderr, "muster shim: the result: %s\n", std::strerror(error));
    nanosleep(&kWritePause, nullptr);
  }
  return false;
}

}  // namespace muster::process
