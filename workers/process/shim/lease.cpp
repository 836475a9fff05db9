#include "workers/process/shim/lease.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

/// Digits of an end, with zeros before it: each write is as long as the one before.
constexpr std::size_t kDigits = 20;
constexpr Duration kLookAgain = std::chrono::seconds{1};
/// After the end, until what runs has been killed.
constexpr Duration kLookSoon = std::chrono::milliseconds{10};
/// A reader and a writer of one line may meet.
constexpr int kReads = 4;

std::optional<Duration> end_in(int file) {
  std::array<char, kDigits> now{};
  std::array<char, kDigits> before{};
  for (int i = 0; i < kReads; ++i) {
    if (pread(file, now.data(), kDigits, 0) != ssize_t{kDigits}) break;
    if (i > 0 && now == before) break;
    before = now;
  }
  std::int64_t ns = 0;
  const auto [end, bad] = std::from_chars(now.data(), now.data() + kDigits, ns);
  if (bad != std::errc{} || end != now.data() + kDigits) return std::nullopt;
  return Duration{ns};
}

}  // namespace

Lease Lease::of_attempt(int folder) {
  Lease lease;
  const std::string path = std::string("../../") + kLeaseFile;
  lease.file_ = Descriptor(openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  return lease;
}

Lease Lease::in_time(int folder) {
  constexpr Duration kPatience = std::chrono::seconds{5};
  constexpr int kLook_ms = 100;
  const Duration begun = boot_time();
  for (;;) {
    Lease lease = of_attempt(folder);
    const auto end = lease.end();
    const Duration now = boot_time();
    if (!end || now < *end || now - begun >= kPatience) return lease;
    poll(nullptr, 0, kLook_ms);
  }
}

Lease Lease::of_worker(const std::filesystem::path& state) {
  Lease lease;
  lease.file_ = Descriptor(::open((state / kLeaseFile).c_str(), O_RDONLY | O_CLOEXEC));
  return lease;
}

std::optional<Duration> Lease::end() const {
  if (!file_) return std::nullopt;
  // A lease that cannot be read has ended: somebody has damaged it.
  return end_in(file_.get()).value_or(Duration::zero());
}

std::optional<Duration> Lease::look_in(Duration now) const {
  const auto until = end();
  if (!until) return std::nullopt;
  return std::clamp(*until - now, kLookSoon, kLookAgain);
}

std::string write_lease(const std::filesystem::path& file, Duration end) {
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  std::array<char, kDigits + 2> text{};
  std::snprintf(text.data(), text.size(), "%020lld\n", static_cast<long long>(end.count()));
  if (out && pwrite(out.get(), text.data(), kDigits + 1, 0) == ssize_t{kDigits + 1}) return {};
  return file.string() + ": " + std::strerror(errno);
}

std::optional<Duration> read_lease(const std::filesystem::path& file) {
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return in ? end_in(in.get()) : std::nullopt;
}

}  // namespace muster::process
