#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "learning/colocation_table.hpp"
#include "schedulers/packing/forgetting.hpp"
#include "schedulers/packing/throughput_intake.hpp"

namespace muster {

/// A co-location table that learns from workers' measurements and can be written down: the
/// knowledge of Eva, and of the policies that it is compared with, on how tasks slow each other.
class ColocationMemory {
 public:
  struct Rules {
    double default_pair = 0.95;  ///< the rate of a pair that was never observed
    bool gangs = true;           ///< the slowest task of a multi-task job speaks for all
    AttributionRules attribution = AttributionRules::paper;
  };

  explicit ColocationMemory(const Rules& rules)
      : rules_(rules), table_(rules.default_pair), intake_(rules.gangs) {}

  const ColocationTable& table() const { return table_; }
  /// Takes a report in. True: some mean has changed.
  bool learn(const Measured& measured, const ClusterState& state);

  /// All that is recorded of classes that are known. Classes go by name, since their numbers belong
  /// to one state.
  nlohmann::json words(const ClusterState& state) const;
  /// Takes such words back in place of what is known. False, and nothing changed: they are not
  /// understood, or speak of classes that the state does not have.
  bool restore(const nlohmann::json& words, const ClusterState& state);

  /// All of it as text, for policies that remember nothing else.
  std::string save(const ClusterState& state) const;
  bool load(std::string_view text, const ClusterState& state);

 private:
  Rules rules_;
  ColocationTable table_;
  ThroughputIntake intake_;
  Forgetting forgetting_;
};

}  // namespace muster
