#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/replay_config.hpp"
#include "learning/training_profile.hpp"
#include "model/enum_words.hpp"

namespace muster::replay {

/// After which published simulator jobs are slowed down, held up and bounded.
enum class TrainingCalibration : std::uint8_t {
  osdi21,  ///< Pollux's
  sia23    ///< Sia's, which the BOA paper simulates with
};
constexpr auto words_of(TrainingCalibration) {
  using E = TrainingCalibration;
  return std::to_array<EnumWord<E>>({{E::osdi21, "osdi21"}, {E::sia23, "sia23"}});
}

/// By the name of the class.
using TrainingProfiles = std::map<std::string, std::shared_ptr<const TrainingProfile>>;

/// Reads the profiles of all classes of a folder:
///   profiles/CLASS/placements.csv    passes of each placement on up to 4 nodes
///   profiles/CLASS/scalability.csv   passes on more nodes, of which the grid below is made; read
///                                    for the largest local batches
///   profiles/CLASS/validation-B.csv  a run at total batch B, one row an epoch
///   throughput_grid.csv              passes by nodes and workers beyond
///   calibration.csv                  what sets a calibration apart, one row a class
/// The class ncf trains on one worker with one batch, as both simulators have it. Errors: a file
/// that is missing or malformed; anything in them that cannot be (invalid: file, line, field).
Expected<TrainingProfiles, ConfigError> load_training_profiles(const std::filesystem::path& folder,
                                                               TrainingCalibration calibration);

}  // namespace muster::replay
