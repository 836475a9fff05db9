#include "storage/stores/backup_owner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "storage/stores/store_folder.hpp"

// The mark of a node in the folder of its backups.

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnerFile = "owner";
/// More than a mark has.
constexpr std::size_t kMostBytes = 64;

Failure<StoreError> cannot_write(const fs::path& path, const std::string& why) {
  return {StoreError::unwritable, path.string() + ": " + why};
}

/// The first line; empty: there is no such file, or a crash has left it empty. Nothing: it cannot
/// be read, and may be another's.
std::optional<std::string> read_line(const fs::path& file) {
  std::error_code bad;
  const auto status = fs::status(file, bad);
  if (status.type() == fs::file_type::not_found) return std::string();
  if (bad || status.type() != fs::file_type::regular) return std::nullopt;
  std::array<char, kMostBytes> text{};
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return std::nullopt;
  const std::string line(text.data(), static_cast<std::size_t>(in.gcount()));
  return line.substr(0, line.find('\n'));
}

/// The file is there as a whole or not at all.
StoreTrouble write_line(const fs::path& file, const std::string& line) {
  const std::string text = line + "\n";
  const fs::path next = file.string() + ".next";
  const int out = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool written = out >= 0 &&
                       write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       fsync(out) == 0;
  if (out >= 0) close(out);
  std::error_code bad;
  if (written) fs::rename(next, file, bad);
  if (!written || bad || !sync_folder(file.parent_path())) {
    return cannot_write(file, "cannot be written");
  }
  return std::nullopt;
}

/// Nothing: the system has no random numbers.
std::string random_mark() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != sizeof bits) return {};
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace

StoreTrouble own_folder(const BackupPlan& plan) {
  if (plan.mark.empty()) return std::nullopt;
  auto known = read_line(plan.mark);
  if (!known) return cannot_write(plan.mark, "cannot be read");
  std::string own = *std::move(known);
  if (own.empty()) {
    own = random_mark();
    if (own.empty()) return cannot_write(plan.mark, "the system has no random numbers");
    if (auto trouble = write_line(plan.mark, own)) return trouble;
  }
  const fs::path file = plan.folder() / kOwnerFile;
  const auto there = read_line(file);
  if (!there)
    return cannot_write(file, "cannot be read, so that it is not known whose the backups are");
  if (there->empty()) return write_line(file, own);
  if (*there == own) return std::nullopt;
  return cannot_write(
      plan.folder(),
      fmt::format("has backups of another cluster of that name. Name another folder by backup.to, "
                  "move this one away, or, when they are of this cluster, copy {} to {}",
                  file.string(), plan.mark.string()));
}

}  // namespace muster
