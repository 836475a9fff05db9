#include "storage/stores/store_backup.hpp"

#include <utility>

// Copies a store record by record through an open reader, not file by file: the source may be in
// use, and its tables and logs change under a copy of files. The copy is made as a new store, so
// that one that is cut short counts as absent.

namespace muster {
namespace {

namespace fs = std::filesystem;

// Bounds the memory of a batch whatever the size of the family.
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

/// Puts every record of the family into the other store.
StoreTrouble copy_family(const Store& from, Family family, Store& to,
                         const std::atomic<bool>* stop) {
  StoreBatch batch;
  std::size_t bytes = 0;
  StoreTrouble trouble;
  const auto flush = [&] {
    if (stop != nullptr && *stop) {
      trouble = Failure<StoreError>{StoreError::unwritable, "the copy was given up"};
      return false;
    }
    // Not durable one by one: the copy is a store only after the durable write at the end.
    trouble = to.write(std::exchange(batch, {}), Durability::process);
    bytes = 0;
    return !trouble;
  };
  const auto use = [&](std::string_view key, std::string_view value) {
    batch.put(family, key, std::string(value));
    bytes += key.size() + value.size();
    // False ends the scan: `trouble` then holds the reason.
    return bytes < kBatchBytes || flush();
  };
  if (auto failed = from.scan(family, {}, use)) return failed;
  if (!trouble) flush();
  return trouble;
}

}  // namespace

StoreTrouble copy_store(const Store& from, const fs::path& to, CopyFor purpose,
                        const std::atomic<bool>* stop) {
  std::error_code bad;
  const bool has_content = fs::exists(to, bad) && !fs::is_empty(to, bad);
  if (bad || (has_content && state_of(to) != FolderState::unfinished)) {
    return Failure<StoreError>{StoreError::unwritable,
                               to.string() + ": " + (bad ? bad.message() : "it is not empty")};
  }
  StoreOptions options;
  options.meta = from.meta();
  options.fill = [&](Store& made) -> StoreTrouble {
    for (std::size_t family = 0; family < kFamilies; ++family) {
      if (auto trouble = copy_family(from, static_cast<Family>(family), made, stop)) {
        return trouble;
      }
    }
    if (purpose == CopyFor::use) {
      // The original may go on and give out numbers that the copy does not know: an owner that
      // starts from it must not give them out again. A copy to look at has the content of the
      // original.
      if (auto trouble = keep_asking(made)) return trouble;
    }
    StoreBatch last;
    last.reaches(from.reached());
    return made.write(last, Durability::machine);
  };
  const auto made = Store::open(to, options);
  if (made) return std::nullopt;
  return made.error();
}

}  // namespace muster
