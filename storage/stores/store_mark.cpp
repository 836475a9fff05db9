#include "storage/stores/store_mark.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/stores/store_folder.hpp"

// The mark's file. A slot is as large as a page, so that a write that is torn by a crash damages
// one slot at most, and the turns decide which slot of the two is the newer one. The layout is on
// disk: a change of it needs another kFormat.

namespace muster {
namespace {

// The file is two slots, each on a page of its own: magic, format, then the fields, least
// significant byte first, and the checksum of all that.
constexpr std::size_t kSlotBytes = 4096;
constexpr std::string_view kMagic = "MUSTMARK";
constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kWords = 9;  ///< after the magic, the checksum's included
constexpr std::size_t kUsed = 8 + 8 * kWords;
// Bounds how far the mark may be behind after a power cut, at one wait for the disk a second
// instead of one for each write.
constexpr auto kSyncEvery = std::chrono::seconds{1};

using Slot = std::array<unsigned char, kUsed>;

/// Content of a slot: the mark, and its turn.
struct Written {
  std::uint64_t turn = 0;
  StoreMark mark;
};

void put_word(Slot& slot, std::size_t at, std::uint64_t word) {
  for (std::size_t i = 0; i < 8; ++i) slot[at + i] = static_cast<unsigned char>(word >> (8 * i));
}

std::uint64_t word_at(const Slot& slot, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word |= std::uint64_t{slot[at + i]} << (8 * i);
  return word;
}

std::uint32_t sum_of(const Slot& slot) {
  return static_cast<std::uint32_t>(crc32(0, slot.data(), kUsed - 8));
}

Slot encode(const Written& written) {
  const auto& [sequence, reached, log, manifest, manifest_bytes, manifest_sum] = written.mark;
  // Format and checksum of the manifest share a word.
  const std::array<std::uint64_t, kWords - 1> words{kFormat << 32U | manifest_sum,
                                                    written.turn,
                                                    sequence,
                                                    reached.events,
                                                    reached.jobs,
                                                    log,
                                                    manifest,
                                                    manifest_bytes};
  Slot slot{};
  std::memcpy(slot.data(), kMagic.data(), kMagic.size());
  for (std::size_t i = 0; i < words.size(); ++i) put_word(slot, 8 + 8 * i, words[i]);
  put_word(slot, kUsed - 8, sum_of(slot));
  return slot;
}

/// Nothing when the slot is not whole.
std::optional<Written> decode(const Slot& slot) {
  if (std::memcmp(slot.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  if (word_at(slot, kUsed - 8) != sum_of(slot)) return std::nullopt;
  const std::uint64_t first = word_at(slot, 8);
  // A slot of another format counts as empty; when both are, the store is refused.
  if (first >> 32U != kFormat) return std::nullopt;
  Written written;
  written.turn = word_at(slot, 16);
  written.mark = {word_at(slot, 24), {word_at(slot, 32), word_at(slot, 40)},
                  word_at(slot, 48), word_at(slot, 56),
                  word_at(slot, 64), static_cast<std::uint32_t>(first)};
  return written;
}

std::optional<Written> read_slot(int file, std::uint64_t which) {
  Slot slot{};
  const auto at = static_cast<off_t>(which * kSlotBytes);
  if (pread(file, slot.data(), slot.size(), at) != static_cast<ssize_t>(slot.size())) {
    return std::nullopt;
  }
  return decode(slot);
}

/// The newer one of those that are whole.
std::optional<Written> read_newest(int file) {
  const std::optional<Written> first = read_slot(file, 0);
  const std::optional<Written> second = read_slot(file, 1);
  if (!first || !second) return first ? first : second;
  return first->turn > second->turn ? first : second;
}

bool write_slot(int file, const Written& written) {
  const Slot slot = encode(written);
  // Never the slot of the turn before, which is the only whole one if this write is torn.
  const auto at = static_cast<off_t>(written.turn % 2 * kSlotBytes);
  return pwrite(file, slot.data(), slot.size(), at) == static_cast<ssize_t>(slot.size());
}

}  // namespace

Expected<std::optional<StoreMark>, StoreError> read_mark(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kMarkFile;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // Stores from before there were marks have no such file and are not refused for it.
  if (file < 0 && errno == ENOENT) return std::optional<StoreMark>{};
  if (file < 0) {
    return Failure<StoreError>{StoreError::unreadable, path.string() + ": " + std::strerror(errno)};
  }
  std::optional<Written> found = read_newest(file);
  // A reader beside the writer may meet both copies half written.
  for (int tries = 0; !found && tries < 3; ++tries) found = read_newest(file);
  close(file);
  if (found) return std::optional<StoreMark>{found->mark};
  return Failure<StoreError>{
      StoreError::corrupt,
      path.string() + ": both copies of the mark are damaged" + std::string(kWhatToDo)};
}

Expected<MarkFile, StoreError> MarkFile::open(const std::filesystem::path& folder,
                                              const StoreMark& first) {
  const std::filesystem::path path = folder / kMarkFile;
  const auto failed = [&] {
    return Failure<StoreError>{StoreError::unwritable, path.string() + ": " + std::strerror(errno)};
  };
  MarkFile made;
  made.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (made.file_ < 0) return failed();
  if (const auto known = read_newest(made.file_)) {
    made.turn_ = known->turn;
    made.last_ = known->mark;
    return made;
  }
  // Both copies, so that there is room for them from now on.
  for (made.turn_ = 1; made.turn_ <= 2; ++made.turn_) {
    if (!write_slot(made.file_, {made.turn_, first})) return failed();
  }
  made.last_ = first;
  if (fsync(made.file_) != 0 || !sync_folder(folder)) return failed();
  return made;
}

MarkFile::MarkFile(MarkFile&& other) noexcept {
  *this = std::move(other);
}

MarkFile& MarkFile::operator=(MarkFile&& other) noexcept {
  // Swapping leaves this one's file to the other's destructor, which closes it.
  std::swap(file_, other.file_);
  std::swap(turn_, other.turn_);
  std::swap(last_, other.last_);
  std::swap(synced_, other.synced_);
  return *this;
}

MarkFile::~MarkFile() {
  if (file_ < 0) return;
  fdatasync(file_);
  close(file_);
}

void MarkFile::put(const StoreMark& mark) {
  if (!write_slot(file_, {turn_ + 1, mark})) return;
  ++turn_;
  last_ = mark;
  const Clock::time_point now = Clock::now();
  if (now - synced_ < kSyncEvery) return;
  synced_ = now;
  fdatasync(file_);
}

}  // namespace muster
