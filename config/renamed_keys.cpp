#include "config/renamed_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::config {
namespace {

/// Every key that was called something else, in whichever kind of config: the old name and the new.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kRenamed = {{
    {"loopback.delay_scale", "cloud.delay_scale"},
    {"loopback.halt_grace", "cloud.halt_grace"},
    {"loopback.interruptions_per_h", "cloud.interruptions_per_h"},
    {"loopback.max_by_type", "cloud.max_by_type"},
    {"loopback.max_instances", "cloud.max_instances"},
    {"loopback.max_on_demand", "cloud.max_on_demand"},
    {"loopback.max_spot", "cloud.max_spot"},
    {"loopback.memory_reserve_gib", "cloud.memory_reserve_gib"},
    {"loopback.notice", "cloud.notice"},
    {"master.queue_room", "master.queue_capacity"},
    {"master.refusal_longest", "master.launch_backoff_longest"},
    {"master.refusal_rest", "master.launch_backoff"},
    {"site.room", "site.capacity"},
    {"sort.by", "classify.by"},
    {"sort.eps", "classify.eps"},
    {"sort.max_history", "classify.max_history"},
    {"sort.max_samples", "classify.max_samples"},
    {"sort.min_samples", "classify.min_samples"},
    {"sort.model", "classify.model"},
    {"sort.p_threshold", "classify.p_threshold"},
    {"sort.retrain_after", "classify.retrain_after"},
    {"sort.threshold", "classify.threshold"},
    {"tasks.settled_keep", "tasks.acknowledged_keep"},
    {"worker.settled_keep", "worker.acknowledged_keep"},
}};

}  // namespace

std::string_view new_name_of(std::string_view key) {
  const auto found = std::find_if(kRenamed.begin(), kRenamed.end(),
                                  [&](const auto& each) { return each.first == key; });
  return found == kRenamed.end() ? std::string_view{} : found->second;
}

bool was_section(std::string_view name) {
  return std::any_of(kRenamed.begin(), kRenamed.end(), [&](const auto& each) {
    const std::string_view old = each.first;
    return old.size() > name.size() && old.starts_with(name) && old[name.size()] == '.';
  });
}

std::string renamed_text(std::string_view key) {
  return fmt::format("is called {} now", new_name_of(key));
}

}  // namespace muster::config
