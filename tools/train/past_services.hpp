#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/config_error.hpp"
#include "learning/services/past_services.hpp"
#include "model/expected.hpp"

namespace muster::train {

/// Past services that were measured.
struct MeasuredServices {
  std::vector<PastService> services{};
  std::vector<std::string> names{};  ///< of these services
  std::size_t rows = 0;              ///< of all services of the file
  std::size_t left_out = 0;
};

/// Reads a CSV file with a row for each size of each service that was measured: `service`, `cores`,
/// `memory_gib` and `performance`, which is better when it is greater, in any unit. Of more than
/// `most` services the last ones stay, by their first rows. Errors name all that is wrong: file,
/// line, column.
Expected<MeasuredServices, ConfigError> read_past_services(const std::filesystem::path& file,
                                                           std::uint32_t most);

}  // namespace muster::train
