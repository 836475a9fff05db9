// The policy's memory in words. Classes go by name, since their numbers belong to one state.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "schedulers/muster/rented_policy.hpp"
#include "schedulers/saved_text.hpp"

namespace muster::own {
namespace {

using nlohmann::json;

bool is_count(const json& value) {
  return value.is_number_unsigned();
}

std::optional<std::map<TaskId, Memory::Wait>> waits_from(const json& lines) {
  std::map<TaskId, Memory::Wait> waits;
  for (const json& line : lines) {
    if (!line.is_array() || line.size() != 4 || !is_count(line[0]) ||
        !line[1].is_number_integer() || !(line[2].is_null() || line[2].is_number_integer()) ||
        !(line[3].is_null() || is_count(line[3]))) {
      return std::nullopt;
    }
    Memory::Wait wait{Duration{line[1].get<std::int64_t>()}, {}, {}};
    if (!line[2].is_null()) wait.since = Instant{Duration{line[2].get<std::int64_t>()}};
    if (!line[3].is_null()) wait.on = InstanceId{line[3].get<std::uint64_t>()};
    waits[TaskId{line[0].get<std::uint64_t>()}] = wait;
  }
  return waits;
}

std::optional<std::map<RunTimeRecord::Key, double>> counts_from(const json& lines) {
  if (!lines.is_array()) return std::nullopt;
  std::map<RunTimeRecord::Key, double> counts;
  for (const json& line : lines) {
    const bool whole = line.is_array() && line.size() == 3 && line[0].is_number_integer() &&
                       line[1].is_number_integer() && line[2].is_number();
    if (!whole) return std::nullopt;
    counts[{line[0].get<std::int32_t>(), line[1].get<std::int32_t>()}] = line[2].get<double>();
  }
  return counts;
}

}  // namespace

std::string RentedPolicy::save_state(const ClusterState& state) const {
  json rates = json::array();
  for (const PairRate& rate : rates_.learnt()) {
    const std::string* task = state.classes().name(rate.task);
    const std::string* neighbour = state.classes().name(rate.neighbour);
    // Of classes that are forgotten: nothing to come is of them.
    if (task == nullptr || neighbour == nullptr) continue;
    rates.push_back({saved_text(*task), saved_text(*neighbour), rate.log_rate});
  }
  json waits = json::array();
  for (const auto& [task, wait] : memory_.waits()) {
    waits.push_back({task.value, wait.before.count(),
                     wait.since ? json(wait.since->time_since_epoch().count()) : json(nullptr),
                     wait.on.valid() ? json(wait.on.value) : json(nullptr)});
  }
  json dirty = json::array();
  for (const InstanceId id : memory_.dirty()) dirty.push_back(id.value);
  json run_times = json::array();
  for (const auto& [key, count] : record_.counts()) {
    run_times.push_back({key.first, key.second, count});
  }
  json all{{"rates", rates},
           {"run_times", run_times},
           {"last_round", last_round_ ? json(*last_round_) : json(nullptr)},
           {"waits", waits},
           {"dirty", dirty},
           {"changed", !memory_.is_quiet()},
           {"refused", memory_.was_refused()}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool RentedPolicy::load_state(std::string_view text, const ClusterView& view) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) return false;
  for (const char* key : {"rates", "waits", "dirty"}) {
    if (!all.contains(key) || !all[key].is_array()) return false;
  }
  for (const char* key : {"changed", "refused"}) {
    if (!all.contains(key) || !all[key].is_boolean()) return false;
  }
  std::vector<PairRate> rates;
  for (const json& line : all["rates"]) {
    if (!line.is_array() || line.size() != 3 || !line[2].is_number()) return false;
    const auto task_name = loaded_text(line[0]), neighbour_name = loaded_text(line[1]);
    if (!task_name || !neighbour_name) return false;
    const auto task = view.state.classes().find(*task_name);
    const auto neighbour = view.state.classes().find(*neighbour_name);
    if (!task || !neighbour) return false;
    rates.push_back({*task, *neighbour, line[2].get<double>()});
  }
  auto waits = waits_from(all["waits"]);
  if (!waits) return false;
  std::set<InstanceId> dirty;
  for (const json& id : all["dirty"]) {
    if (!is_count(id)) return false;
    dirty.insert(InstanceId{id.get<std::uint64_t>()});
  }
  // Earlier versions knew nothing of these two.
  auto counts = counts_from(all.value("run_times", json::array()));
  const json last = all.value("last_round", json(nullptr));
  if (!counts || !(last.is_null() || last.is_number_integer())) return false;
  last_round_.reset();
  if (!last.is_null()) last_round_ = last.get<std::int64_t>();
  record_.restore(std::move(*counts));
  idle_.rebuild(view.state);
  rates_.restore(rates);
  memory_.restore(std::move(*waits), std::move(dirty),
                  {all["changed"].get<bool>(), all["refused"].get<bool>()});
  return true;
}

}  // namespace muster::own
