// The policy's memory in words. Classes go by name, since their numbers belong to one state.

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/fields.hpp"
#include "schedulers/muster/rented_policy.hpp"
#include "schedulers/saved_lines.hpp"
#include "schedulers/saved_text.hpp"

namespace muster::own {

/// More than any instance costs.
constexpr double kMostPlace_usd_h = 1e6;
/// Longer than any task runs.
constexpr double kLongestRun_s = 1e12;

using saved::Json, saved::loaded, saved::member, saved::want;

void line(auto& a, Like<Memory::Wait> auto& wait) {
  a(wait.before, wait.since, wait.on);
}

void line(auto& a, Like<EmptyRecord::OfType> auto& of) {
  a(of.open, of.gaps);
}

namespace {

/// Each class by its name: jobs that count, and the mean time that their tasks have run.
Json words_of(const ClassTimes& times, const ClassTable& classes) {
  Json rows = Json::array();
  for (const auto& [cls, of] : times.classes()) {
    const std::string* name = classes.name(cls);
    if (name != nullptr) rows.push_back({saved_text(*name), of.jobs, of.mean_s});
  }
  return rows;
}

std::map<ClassId, ClassTimes::OfClass> class_times_of(const Json& rows, const ClassTable& classes) {
  std::map<ClassId, ClassTimes::OfClass> times;
  for (const Json& row : saved::list(rows)) {
    saved::list(row, 3);
    const auto name = loaded_text(row[0]);
    want(name.has_value());
    const auto cls = classes.find(*name);
    const ClassTimes::OfClass of{loaded<double>(row[1]), loaded<double>(row[2])};
    want(cls && of.jobs > 0 && of.jobs <= ClassTimes::kMemory && of.mean_s >= 0 &&
         of.mean_s <= kLongestRun_s);
    times[*cls] = of;
  }
  return times;
}

}  // namespace

std::string RentedPolicy::save_state(const ClusterState& state) const {
  Json rates = Json::array();
  for (const PairRate& rate : rates_.learnt()) {
    const std::string* task = state.classes().name(rate.task);
    const std::string* neighbour = state.classes().name(rate.neighbour);
    // Of classes that are forgotten: nothing to come is of them.
    if (task == nullptr || neighbour == nullptr) continue;
    rates.push_back({saved_text(*task), saved_text(*neighbour), rate.log_rate});
  }
  Json all{{"rates", rates},
           {"run_times", saved::saved(record_.counts())},
           {"class_times", words_of(times_, state.classes())},
           {"held_at", saved::saved(last_round_)},
           {"empty_since", saved::saved(idle_.since())},
           {"emptied", saved::saved(empties_.types())},
           {"place_usd_h", place_.usd_h()},
           {"waits", saved::saved(memory_.waits())},
           {"dirty", saved::saved(memory_.dirty())},
           {"changed", memory_.has_changed()},
           {"news", memory_.has_news()},
           {"again", memory_.asks_again()},
           {"waits_until", saved::saved(memory_.waits_until())},
           {"refused", memory_.was_refused()}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool RentedPolicy::load_state(std::string_view text, const ClusterView& view) {
  const Json all = Json::parse(text, nullptr, false);
  try {
    std::vector<PairRate> rates;
    for (const Json& row : saved::list(member(all, "rates"))) {
      saved::list(row, 3);
      const auto task_name = loaded_text(row[0]), neighbour_name = loaded_text(row[1]);
      want(task_name && neighbour_name);
      const auto task = view.state.classes().find(*task_name);
      const auto neighbour = view.state.classes().find(*neighbour_name);
      want(task && neighbour);
      rates.push_back({*task, *neighbour, loaded<double>(row[2])});
    }
    auto waits = loaded<std::map<TaskId, Memory::Wait>>(member(all, "waits"));
    auto dirty = loaded<std::set<InstanceId>>(member(all, "dirty"));
    const auto changed = loaded<bool>(member(all, "changed"));
    const Memory::News news{
        changed, loaded<bool>(all.value("news", Json(changed))),
        loaded<bool>(member(all, "refused")), loaded<bool>(all.value("again", Json(false))),
        loaded<std::optional<Instant>>(all.value("waits_until", Json(nullptr)))};
    // Earlier versions knew nothing of these, and of what is asked again.
    auto counts =
        loaded<std::map<RunTimeRecord::Key, double>>(all.value("run_times", Json::array()));
    auto times = class_times_of(all.value("class_times", Json::array()), view.state.classes());
    last_round_ = loaded<decltype(last_round_)>(all.value("held_at", Json(nullptr)));
    const auto empty_since =
        loaded<std::map<InstanceId, Instant>>(all.value("empty_since", Json::array()));
    auto emptied =
        loaded<std::map<std::uint32_t, EmptyRecord::OfType>>(all.value("emptied", Json::array()));
    const auto place_usd_h = loaded<double>(all.value("place_usd_h", Json(0.0)));
    want(place_usd_h >= 0 && place_usd_h <= kMostPlace_usd_h);
    place_.restore(place_usd_h);
    empties_.restore(std::move(emptied));
    record_.restore(std::move(counts));
    times_.restore(std::move(times));
    // Where instances are given it hears of nothing.
    if (view.rents() && follows_empties()) {
      idle_.rebuild(view.state, view.now);
      idle_.restore_since(empty_since);
    }
    rates_.restore(rates);
    memory_.restore(std::move(waits), std::move(dirty), news);
    return true;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::own
