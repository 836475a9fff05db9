#include "replay/interference.hpp"

#include <cmath>

#include "config/error_list.hpp"

// Models of how tasks on one instance slow each other. The uniform one: each of n tasks runs at
// pair^(n-1) of its own pace.

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

  double pair_at_most(std::uint32_t /*workload*/, std::uint32_t /*neighbour*/) const override {
    return pair_;
  }
  bool is_product() const override { return true; }
  bool is_harmless() const override { return pair_ == 1; }

 private:
  double pair_;
};

Expected<std::unique_ptr<Interference>, ConfigError> uniform(double pair) {
  return std::unique_ptr<Interference>(std::make_unique<UniformInterference>(pair));
}

}  // namespace

InterferenceModel no_interference() {
  return {{.name = "none"}, [](const InterferenceConfig&) { return uniform(1); }};
}

InterferenceModel uniform_interference() {
  return {{.name = "uniform"},
          [](const InterferenceConfig& config) { return uniform(config.default_pair); }};
}

const std::vector<InterferenceModel>& interference_models() {
#define MUSTER_INTERFERENCE(NAME) NAME##_interference(),
  static const std::vector<InterferenceModel> kModels = {
#include "replay/interference_models.def"
  };
#undef MUSTER_INTERFERENCE
  return kModels;
}

Expected<std::unique_ptr<Interference>, ConfigError> make_interference(
    const InterferenceConfig& config) {
  std::vector<std::string> names;
  for (const InterferenceModel& model : interference_models()) {
    if (model.part.name == config.model) return model.make(config);
    names.push_back(model.part.name);
  }
  return Failure<ConfigError>{ConfigError::invalid,
                              unknown_word("interference model", config.model, names)};
}

}  // namespace muster::replay
