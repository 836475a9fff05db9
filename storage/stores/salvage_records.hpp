#pragma once

#include <optional>
#include <string>

#include "storage/stores/damaged_tables.hpp"
#include "storage/stores/store_mark.hpp"
#include "storage/stores/store_salvage.hpp"

// The part of a salvage that fills the new store, hidden from others.

namespace muster {

/// Gathers what is lost, and keeps the list of it short.
class SalvageLosses {
 public:
  void add(SalvageLoss loss);
  /// Changes that were in the log, by their numbers.
  void add_changes(const std::string& log, std::uint64_t from, std::uint64_t until);
  bool empty() const { return lost_.empty(); }
  void move_to(SalvageReport& report);

 private:
  std::vector<SalvageLoss> lost_;
  std::uint64_t not_named_ = 0, changes_ = 0;
};

/// Facts of a damaged store beside its records.
struct SalvageFacts {
  std::optional<StoreMark> mark{};  ///< nothing: it cannot be read
  bool rebuilt = false;             ///< erased records may be there again
};

/// Makes the new store of the records that can be read.
Expected<SalvageReport, StoreError> salvage_records(const DamagedTables& tables,
                                                    const SalvageFacts& facts,
                                                    const SalvageOrder& order,
                                                    SalvageLosses& losses);

}  // namespace muster
