#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/replay_config.hpp"

namespace muster::replay {

/// How fast each workload runs beside one other, relative to running alone.
class ContentionMatrix {
 public:
  /// `cells` row by row: the row is the workload measured, the column its neighbour.
  ContentionMatrix(std::vector<std::string> names, std::vector<double> cells, double default_pair);

  /// Position of the workload in the file; size() for one that is not there.
  std::uint32_t index_of(std::string_view name) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

  /// Throughput of `workload` beside `neighbour`; the default when either is not in the file.
  double pair(std::uint32_t workload, std::uint32_t neighbour) const {
    if (workload >= size() || neighbour >= size()) return default_pair_;
    return cells_[workload * names_.size() + neighbour];
  }

 private:
  std::vector<std::string> names_;
  std::vector<double> cells_;
  double default_pair_;
};

/// Reads a matrix from CSV: column `workload` with the names, and one column for each of them in
/// the same order; a cell is a number above 0 and at most 1, or x for "not measured".
Expected<ContentionMatrix, ConfigError> read_contention_matrix(const std::filesystem::path& file,
                                                               double default_pair);

}  // namespace muster::replay
