#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "replay/contention_matrix.hpp"
#include "replay/interference.hpp"

namespace muster::replay {

/// Settings of the pairwise model.
struct PairwiseSettings {
  std::filesystem::path matrix;  ///< CSV, row = the task, column = its neighbour
  bool as_generated = false;     ///< with the exchanged values of Eva's artifact
};

/// A task's throughput is the product of its pairwise throughputs over all its neighbours. The
/// result depends only on which workloads are together, not on their order.
class PairwiseInterference : public Interference {
 public:
  explicit PairwiseInterference(ContentionMatrix matrix) : matrix_(std::move(matrix)) {}

  std::uint32_t index_of(const std::string& workload) override {
    return matrix_.index_of(workload);
  }
  std::vector<double> throughput(std::span<const std::uint32_t> together) const override;
  double pair_at_most(std::uint32_t workload, std::uint32_t neighbour) const override {
    return matrix_.pair(workload, neighbour);
  }
  bool is_product() const override { return true; }

 protected:
  const ContentionMatrix& matrix() const { return matrix_; }

 private:
  ContentionMatrix matrix_;
};

/// The values of the contention map that the script of Eva's artifact generates: it computes them
/// for the workloads in one order and files them under the names in another. The orders are those
/// of the map behind the reference figures.
class AsGeneratedInterference final : public PairwiseInterference {
 public:
  explicit AsGeneratedInterference(ContentionMatrix matrix);

  /// A workload of the artifact that the matrix lacks; empty when it has all.
  static std::string missing_name(const ContentionMatrix& matrix);

  std::vector<double> throughput(std::span<const std::uint32_t> together) const override;
  /// Values stand at the names of others, so that no pair limits them.
  double pair_at_most(std::uint32_t, std::uint32_t) const override { return 1; }
  bool is_product() const override { return false; }

 private:
  /// For each workload its position in an order; kNowhere when it is not part of it.
  using Ranks = std::vector<std::uint32_t>;

  Ranks ranks_of(const std::vector<std::string>& order) const;
  const Ranks* order_for(std::span<const std::uint32_t> together) const;
  std::vector<double> relabelled(std::span<const std::uint32_t> together, const Ranks& order) const;
  double pair(std::uint32_t workload, std::uint32_t neighbour) const;

  Ranks alphabetical_;
  Ranks in_file_;       ///< order of the values for two tasks
  Ranks up_to_ten_;     ///< for three to ten
  Ranks of_cpu_tasks_;  ///< for eleven to twenty-five that need no GPU
};

}  // namespace muster::replay
