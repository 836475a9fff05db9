#include "storage/store_backup.hpp"

#include <utility>

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

/// Puts every record of the family into the other store.
StoreTrouble copy_family(const Store& from, Family family, Store& to) {
  StoreBatch batch;
  std::size_t bytes = 0;
  StoreTrouble trouble;
  const auto flush = [&] {
    trouble = to.write(std::exchange(batch, {}), Durability::process);
    bytes = 0;
    return !trouble;
  };
  const auto use = [&](std::string_view key, std::string_view value) {
    batch.put(family, key, std::string(value));
    bytes += key.size() + value.size();
    return bytes < kBatchBytes || flush();
  };
  if (auto failed = from.scan(family, {}, use)) return failed;
  if (!trouble) flush();
  return trouble;
}

}  // namespace

StoreTrouble copy_store(const Store& from, const fs::path& to, CopyFor purpose) {
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
      if (auto trouble = copy_family(from, static_cast<Family>(family), made)) return trouble;
    }
    if (purpose == CopyFor::use) {
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
