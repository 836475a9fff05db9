#include "serve/hosts/host_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "serve/hosts/row_value.hpp"

namespace muster::hosts {
namespace {

using EntryJson = nlohmann::ordered_json;

/// Silence after which a machine is not taken into use: some reports have been missed.
constexpr int kMissedReports = 5;
constexpr Duration kLeastFirstReports = std::chrono::seconds{15};
constexpr Duration kLeastSilence = std::chrono::seconds{5};
/// For as long as that a machine is said to have a copy that was heard.
constexpr Duration kCopyShown = std::chrono::minutes{10};

bool fits(const InstanceType& type, const Measured& has) {
  const Resources& needs = type.capacity;
  return needs[Resource::cpu] <= has.cpus && needs[Resource::memory] <= has.memory_gib &&
         needs[Resource::gpu] <= has.gpus && needs[Resource::storage] <= has.storage_gib;
}

}  // namespace

std::string_view name_of(HostState state) {
  switch (state) {
    case HostState::waiting:
      return "waiting";
    case HostState::ready:
      return "ready";
    case HostState::silent:
      return "silent";
    case HostState::lost:
      return "lost";
  }
  return "";
}

HostState state_of(const HostEntry& host, Duration now, Duration report) {
  if (host.lost) return HostState::lost;
  if (!host.heard) return HostState::waiting;
  const Duration silence = now - *host.heard;
  const Duration most = std::max(kLeastSilence, kMissedReports * report);
  return silence <= most ? HostState::ready : HostState::silent;
}

Duration first_reports(Duration report) {
  return std::max<Duration>(kLeastFirstReports, kMissedReports * report);
}

Reporter reporter_of(const HostEntry& host, HostState state, const Report& report, bool early) {
  if (report.run == host.run) return Reporter::machine;
  if (!host.run_before.empty() && report.run == host.run_before) return Reporter::copy;
  if (report.boot == host.boot || host.boot.empty()) return Reporter::machine;
  // A machine cannot have booted while it went on reporting.
  if (state == HostState::ready) return Reporter::copy;
  return early && state == HostState::waiting ? Reporter::unsure : Reporter::machine;
}

bool take_report(HostEntry& host, const Report& report, Duration now) {
  const bool is_other = report.run != host.run;
  if (is_other) host.run_before = std::exchange(host.run, report.run);
  host.boot = report.boot;
  host.heard = now;
  host.present = report.instances;
  host.trouble = report.trouble;
  host.own_checkpoints = report.own_checkpoints;
  return is_other;
}

bool is_free(const HostEntry& host, HostState state) {
  return !host.use && host.present.empty() && !host.drained && state == HostState::ready;
}

HostRow row_of(const HostEntry& host, HostState state, Duration now) {
  HostRow row{host.number,   host.name,   host.type,    state, host.drained,
              host.measured, host.labels, std::nullopt, {},    host.trouble};
  row.own_checkpoints = host.own_checkpoints;
  if (host.use) row.instance = host.use->instance;
  if (host.heard) row.heard_s = host.heard_s;
  if (host.copy_heard && now - *host.copy_heard <= kCopyShown) {
    row.trouble = fmt::format(
        "two daemons report with its key, and one is refused: `muster hosts remove {}`, then join "
        "each with a --state folder of its own",
        host.number);
  }
  return row;
}

EntryJson to_row(const HostEntry& host) {
  EntryJson labels = EntryJson::object();
  for (const auto& [key, text] : host.labels) labels[key] = text;
  EntryJson row{{"number", host.number},
                {"name", host.name},
                {"key", host.key},
                {"token", host.token},
                {"type", host.type},
                {"cpus", host.measured.cpus},
                {"memory_gib", host.measured.memory_gib},
                {"gpus", host.measured.gpus},
                {"storage_gib", host.measured.storage_gib},
                {"labels", labels}};
  if (host.drained) row["drained"] = true;
  if (!host.run.empty()) row["run"] = host.run;
  if (!host.run_before.empty()) row["run_before"] = host.run_before;
  if (!host.boot.empty()) row["boot"] = host.boot;
  if (host.use && host.use->use != Use::reserved) row["instance"] = host.use->instance.value;
  return row;
}

HostEntry host_from_row(const EntryJson& row) {
  HostEntry host;
  host.number = row_value<std::uint32_t>(row, "number", 0);
  host.name = row_value<std::string>(row, "name", "");
  host.key = row_value<std::string>(row, "key", "");
  host.token = row_value<std::string>(row, "token", "");
  host.type = row_value<std::string>(row, "type", "");
  host.measured = {
      row_value<std::uint32_t>(row, "cpus", 0), row_value<std::uint32_t>(row, "memory_gib", 0),
      row_value<std::uint32_t>(row, "gpus", 0), row_value<std::uint32_t>(row, "storage_gib", 0)};
  host.drained = row_value<bool>(row, "drained", false);
  host.run = row_value<std::string>(row, "run", "");
  host.run_before = row_value<std::string>(row, "run_before", "");
  host.boot = row_value<std::string>(row, "boot", "");
  if (row.contains("labels") && row["labels"].is_object()) {
    for (const auto& [key, text] : row["labels"].items()) {
      if (text.is_string()) host.labels[key] = text.get<std::string>();
    }
  }
  if (row.contains("instance")) {
    const InstanceId instance{row_value<std::uint64_t>(row, "instance", InstanceId::kNone)};
    // Before the end of the process the machine may have heard of it.
    host.use = Assignment{instance, Use::ordered, true, 0, {}};
  }
  return host;
}

std::string type_for(const Catalog& catalog, const Measured& has) {
  const InstanceType* best = nullptr;
  const auto size = [](const InstanceType& type) {
    const Resources& c = type.capacity;
    return std::tuple(c[Resource::gpu], c[Resource::cpu], c[Resource::memory],
                      c[Resource::storage]);
  };
  for (const InstanceType& type : catalog.types()) {
    if (fits(type, has) && (best == nullptr || size(type) > size(*best))) best = &type;
  }
  return best == nullptr ? std::string{} : best->name;
}

std::string amounts_text(const Measured& has) {
  return fmt::format("{} cores, {} GiB of memory, {} GPUs and {} GiB of disk", has.cpus,
                     has.memory_gib, has.gpus, has.storage_gib);
}

}  // namespace muster::hosts
