#include "config/replay_config.hpp"

#include <fmt/format.h>

#include "config/fleet_check.hpp"
#include "config/key_table.hpp"

namespace muster {
namespace {

using Reader = config::KeyReader<ReplayConfig>;

void check_workload(const WorkloadConfig& workload, Reader& reader) {
  const bool synthetic = workload.format == "synthetic";
  if (synthetic) reader.need("workload.synthetic.workloads", ", and the workload is synthetic");
  if (!synthetic && !workload.format.empty()) {
    reader.need("workload.path", fmt::format(", and the workload is {}", workload.format));
  }
  if (workload.format == "composed") {
    reader.need("workload.composed.demands", ", and the workload is composed");
    if (workload.composed.jobs > 0 && workload.composed.mean_gap_s <= 0) {
      reader.complain("workload.composed.mean_gap_s",
                      "has to be > 0 when jobs are drawn (workload.composed.jobs), as those have "
                      "no times of their own; it is 0");
    }
  }
  if (workload.max_tasks > 0 && workload.max_tasks < workload.min_tasks) {
    reader.complain("workload.max_tasks",
                    fmt::format("has to be 0 or at least min_tasks, which is {}; it is {}",
                                workload.min_tasks, workload.max_tasks));
  }
  if (workload.load > 0 && workload.scale_time != 1) {
    reader.complain("workload.scale_time",
                    fmt::format("has to be 1 when workload.load sets the factor; it is {}",
                                workload.scale_time));
  }
}

void read_sites(ReplayConfig& parsed, Reader& reader) {
  for (const std::string& text : parsed.group.site_texts) {
    const std::size_t colon = text.find(':');
    const auto position =
        colon == std::string::npos ? std::nullopt : parse_geo_point(text.substr(colon + 1));
    if (position && config::is_name(text.substr(0, colon))) {
      parsed.group.sites.emplace_back(text.substr(0, colon), *position);
    } else {
      reader.complain("group.sites",
                      fmt::format("has to be NAME:LATITUDE,LONGITUDE, each; one is \"{}\"", text));
    }
  }
}

/// What depends on more than one key.
void check_whole(ReplayConfig& parsed, Reader& reader) {
  reader.need_required();
  config::read_fleet(parsed, reader);
  read_sites(parsed, reader);
  check_workload(parsed.workload, reader);
  if (parsed.workload.load > 0 && parsed.master.fleet_texts.empty()) {
    reader.complain("workload.load", "needs a fleet that is offered the load (master.fleet)");
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

const std::vector<std::string>& trace_formats() {
  static const std::vector<std::string> kFormats = {
      "eva-json", "openb-csv", "muster-csv", "tr", "google-2011", "alibaba-2017", "swf"};
  return kFormats;
}

const std::vector<std::string>& workload_formats() {
  static const std::vector<std::string> kFormats = [] {
    std::vector<std::string> all = trace_formats();
    all.insert(all.end(), {"synthetic", "composed"});
    return all;
  }();
  return kFormats;
}

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
