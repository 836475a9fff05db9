#include "config/replay_config.hpp"

#include <fmt/format.h>

#include "config/fleet_check.hpp"
#include "config/key_table.hpp"

namespace muster {
namespace {

using Reader = config::KeyReader<ReplayConfig>;

/// What depends on more than one key.
void check_whole(ReplayConfig& parsed, Reader& reader) {
  reader.need_required();
  config::read_fleet(parsed, reader);
  const bool synthetic = parsed.workload.format == "synthetic";
  if (synthetic) reader.need("workload.synthetic.workloads", ", and the workload is synthetic");
  if (!synthetic && !parsed.workload.format.empty()) {
    reader.need("workload.path", fmt::format(", and the workload is {}", parsed.workload.format));
  }
  if (parsed.world.interference.model == InterferenceModel::pairwise) {
    reader.need("world.interference.matrix", ", and the interference is pairwise");
  }
  const SyntheticWorkload& made = parsed.workload.synthetic;
  if (made.min_duration_h > made.max_duration_h) {
    reader.complain("workload.synthetic.min_duration_h",
                    fmt::format("has to be at most max_duration_h, which is {}; it is {}",
                                made.max_duration_h, made.min_duration_h));
  }
  if (made.log_uniform && made.min_duration_h <= 0) {
    reader.complain("workload.synthetic.min_duration_h",
                    "has to be > 0 when durations are log-uniform; it is 0");
  }
}

}  // namespace

Expected<ReplayConfig, ConfigError> load_replay_config(const std::filesystem::path& file,
                                                       const std::vector<std::string>& overrides) {
  const auto table = config::read_toml(file);
  if (!table) {
    const bool unreadable = table.error().code == config::TomlError::unreadable;
    return Failure<ConfigError>{unreadable ? ConfigError::unreadable : ConfigError::malformed,
                                table.error().message};
  }
  ReplayConfig parsed;
  parsed.name = file.stem().string();
  ErrorList errors;
  Reader reader({.file = file}, parsed, errors);
  reader.read_table(table.value());
  const bool file_is_fine = errors.empty();
  for (const std::string& text : overrides) reader.read_override(text);
  const bool bad_override = file_is_fine && !errors.empty();
  check_whole(parsed, reader);
  reader.resolve_paths();
  if (errors.empty()) return parsed;
  errors.sort_by_line();
  return Failure<ConfigError>{bad_override ? ConfigError::bad_override : ConfigError::invalid,
                              errors.text()};
}

}  // namespace muster
