#include "config/replay_config.hpp"

#include <fmt/format.h>

#include "config/cloud_keys.hpp"
#include "config/fleet_check.hpp"
#include "config/key_reader.hpp"
#include "config/replay_parts.hpp"

namespace muster {
namespace {

using Reader = config::KeyReader<ReplayConfig>;

void check_workload(const WorkloadConfig& workload, Reader& reader) {
  if (workload.max_tasks > 0 && workload.max_tasks < workload.min_tasks) {
    reader.complain("workload.max_tasks",
                    fmt::format("has to be 0 or at least min_tasks, which is {}; it is {}",
                                workload.min_tasks, workload.max_tasks));
  }
  if (workload.window.length <= Duration::zero() && workload.window.min_jobs > 0) {
    reader.complain("workload.window.length",
                    "has to be > 0 when a window is drawn (workload.window.min_jobs); it is 0");
  }
  if (workload.stated.by == "drawn" && workload.stated.errors.empty()) {
    reader.complain("workload.stated.errors", "is missing, and workload.stated.run_times is drawn");
  }
  // A config that spells out the default has not asked for anything.
  const bool is_default = workload.stated.factor == decltype(workload.stated){}.factor;
  if (workload.stated.by != "factor" && reader.given("workload.stated.factor") && !is_default) {
    reader.complain("workload.stated.factor",
                    fmt::format("counts for nothing unless workload.stated.run_times is factor; "
                                "it is {}",
                                workload.stated.by));
  }
  if (workload.load > 0 && workload.scale_time != 1) {
    reader.complain("workload.scale_time",
                    fmt::format("has to be 1 when workload.load sets the factor; it is {}",
                                workload.scale_time));
  }
}

/// The part of a kind that a config names.
struct Chosen {
  std::string_view what;
  const std::string& name;
};

/// Checks the needs of the part that is named, and the rules of all parts between keys.
void check_parts(const std::vector<ReplayPart>& parts, const Chosen& chosen,
                 const ReplayConfig& config, Reader& reader) {
  for (const ReplayPart& part : parts) {
    if (part.name == chosen.name) {
      for (const std::string& key : part.needs) {
        reader.need(key, fmt::format(", and the {} is {}", chosen.what, chosen.name));
      }
    }
    // Checks run for parts that are not named too: their keys may be given nevertheless.
    if (!part.check) continue;
    for (const KeyFault& fault : part.check(config)) reader.complain(fault.key, fault.message);
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

/// Checks that depend on more than one key.
void check_whole(const ReplayParts& parts, ReplayConfig& parsed, Reader& reader) {
  reader.need_required();
  config::read_fleet(parsed, reader);
  read_sites(parsed, reader);
  config::check_cloud(parsed, reader);
  check_workload(parsed.workload, reader);
  if (parsed.workload.load > 0 && parsed.fleet.texts.empty()) {
    reader.complain("workload.load", "needs a fleet that is offered the load (master.fleet)");
  }
  check_parts(parts.formats, {"workload", parsed.workload.format}, parsed, reader);
  check_parts(parts.interference, {"interference", parsed.world.interference.model}, parsed,
              reader);
}

}  // namespace

Expected<ReplayConfig, ConfigError> load_replay_config(const ReplayParts& parts,
                                                       const std::filesystem::path& file,
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
  const auto keys = config::replay_keys(parts);
  Reader reader({.file = file}, parsed, errors, keys);
  reader.read_table(table.value());
  const bool file_is_fine = errors.empty();
  for (const std::string& text : overrides) reader.read_override(text);
  const bool bad_override = file_is_fine && !errors.empty();
  // After overrides, which may mend what the file lacks; before paths are made, which errors show
  // as they were written.
  check_whole(parts, parsed, reader);
  reader.resolve_paths();
  if (errors.empty()) return parsed;
  errors.sort_by_line();
  return Failure<ConfigError>{bad_override ? ConfigError::bad_override : ConfigError::invalid,
                              errors.text()};
}

}  // namespace muster
