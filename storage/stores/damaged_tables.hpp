#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "storage/stores/store.hpp"

namespace muster {

/// The database of a store that is damaged, in a folder of which nothing else is wanted: opening it
/// changes the files.
class DamagedTables {
 public:
  using Use = std::function<StoreTrouble(std::string_view key, std::string_view value)>;
  /// Keys after the first one and before the other cannot be read; empty: from the first key, to
  /// the last one.
  using Lose = std::function<void(const std::string& after, const std::string& before)>;

  /// Opens the database; `rebuild`: by its tables alone, because the list of them is damaged.
  static Expected<std::unique_ptr<DamagedTables>, StoreError> open(
      const std::filesystem::path& folder, bool rebuild);
  ~DamagedTables();

  /// Whether the list of its tables was made anew: records that had been erased may be there again.
  bool rebuilt() const;
  /// Number of its last change.
  std::uint64_t last_change() const;
  /// Calls `use` for every record of the family that can be read, in the order of the keys, and
  /// `lose` for every part between them that cannot. No older value stands in for one that cannot
  /// be read.
  StoreTrouble scan(Family family, const Use& use, const Lose& lose) const;

 private:
  struct Content;
  explicit DamagedTables(std::unique_ptr<Content> content);
  std::string next_readable(Family family, const std::string& after) const;

  std::unique_ptr<Content> content_;
};

}  // namespace muster
