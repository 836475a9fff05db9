#include "serve/hosts/host_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "serve/hosts/row_value.hpp"

namespace muster::hosts {
namespace {

using EntryJson = nlohmann::ordered_json;

/// Silence after which a machine is not taken into use: some reports have been missed.
constexpr int kMissedReports = 5;
constexpr Duration kLeastSilence = std::chrono::seconds{5};

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

bool is_copy(const HostEntry& host, HostState state, const Report& report) {
  if (report.run == host.run) return false;
  if (!host.run_before.empty() && report.run == host.run_before) return true;
  // A machine cannot have booted while it went on reporting.
  return state == HostState::ready && report.boot != host.boot;
}

HostRow row_of(const HostEntry& host, HostState state) {
  HostRow row{host.number, host.name,    host.type, state,       host.measured,
              host.labels, std::nullopt, {},        host.trouble};
  if (host.use) row.instance = host.use->instance;
  if (host.heard) row.heard_s = host.heard_s;
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
