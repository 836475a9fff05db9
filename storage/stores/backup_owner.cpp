#include "storage/stores/backup_owner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>

#include "storage/stores/store_folder.hpp"

// The mark of a node in the folder of its backups.

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnerFile = "owner";

Failure<StoreError> cannot_write(const fs::path& path, const std::string& why) {
  return {StoreError::unwritable, path.string() + ": " + why};
}

/// Empty: there is no such file, or it is one that a crash has left empty.
std::string read_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
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
  std::string own = read_line(plan.mark);
  if (own.empty()) {
    own = random_mark();
    if (own.empty()) return cannot_write(plan.mark, "the system has no random numbers");
    if (auto trouble = write_line(plan.mark, own)) return trouble;
  }
  const fs::path file = plan.folder() / kOwnerFile;
  const std::string there = read_line(file);
  if (there.empty()) return write_line(file, own);
  if (there == own) return std::nullopt;
  return cannot_write(
      plan.folder(),
      fmt::format("has backups of another cluster of that name. Name another folder by backup.to, "
                  "move this one away, or, when they are of this cluster, copy {} to {}",
                  file.string(), plan.mark.string()));
}

}  // namespace muster
