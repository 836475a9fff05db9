#include "tools/replay/interference.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tools/replay/contention_matrix.hpp"
#include "tools/replay/pairwise_interference.hpp"

namespace muster::replay {
namespace {

/// Every neighbour costs the same share, whatever it is.
class UniformInterference final : public Interference {
 public:
  explicit UniformInterference(double pair) : pair_(pair) {}

  std::uint32_t index_of(const std::string& /*workload*/) override { return 0; }

  std::vector<double> throughput(std::span<const std::uint32_t> together) const override {
    if (together.empty()) return {};
    const double each = std::pow(pair_, static_cast<double>(together.size() - 1));
    return std::vector<double>(together.size(), each);
  }

 private:
  double pair_;
};

}  // namespace

Expected<std::unique_ptr<Interference>, ConfigError> make_interference(
    const InterferenceConfig& config) {
  switch (config.model) {
    case InterferenceModel::none:
      return std::unique_ptr<Interference>(std::make_unique<UniformInterference>(1));
    case InterferenceModel::uniform:
      return std::unique_ptr<Interference>(
          std::make_unique<UniformInterference>(config.default_pair));
    case InterferenceModel::pairwise:
      break;
  }
  auto matrix = read_contention_matrix(config.matrix, config.default_pair);
  if (!matrix && matrix.error().code == ConfigError::unreadable) {
    return Failure<ConfigError>{ConfigError::unreadable,
                                "world.interference.matrix: " + matrix.error().message};
  }
  if (!matrix) return matrix.error();
  if (!config.as_generated) {
    return std::unique_ptr<Interference>(
        std::make_unique<PairwiseInterference>(std::move(matrix.value())));
  }
  const std::string missing = AsGeneratedInterference::missing_name(matrix.value());
  if (!missing.empty()) {
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("{}: the variant \"as-generated\" reproduces Eva's artifact and needs its "
                    "nine workloads; '{}' is missing",
                    config.matrix.string(), missing)};
  }
  return std::unique_ptr<Interference>(
      std::make_unique<AsGeneratedInterference>(std::move(matrix.value())));
}

}  // namespace muster::replay
