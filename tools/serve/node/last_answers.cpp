#include "tools/serve/node/last_answers.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

using nlohmann::json;

/// What of a master's load is part of a total.
json figures_of(const json& load) {
  const json tasks = load.value("tasks", json::object());
  const auto waiting = [&tasks](const char* phase) { return tasks.value(phase, 0U); };
  return {{"usd_h", load.value("usd_h", 0.0)},
          {"today_usd", load.value("today_usd", 0.0)},
          {"total_usd", load.value("total_usd", 0.0)},
          {"instances", load.value("instance_count", 0U)},
          {"active_jobs", load.value("active_jobs", 0U)},
          {"pending_tasks", waiting("pending") + waiting("assigned") + waiting("held")}};
}

}  // namespace

LastAnswers::LastAnswers(std::vector<std::string> masters, std::vector<std::string> sites,
                         Instant began) {
  for (std::string& name : masters) masters_.push_back({std::move(name), began, nullptr});
  for (std::string& name : sites) sites_.push_back({std::move(name), began, nullptr});
}

void LastAnswers::note(std::vector<Known>& known, const Texts& answers, Instant now) {
  for (std::size_t i = 0; i < std::min(known.size(), answers.size()); ++i) {
    if (answers[i]) known[i].answered = std::max(known[i].answered, now);
  }
}

void LastAnswers::hear(const Texts& masters, const Texts& sites, Instant now, bool loads) {
  std::vector<json> figures(masters.size());
  for (std::size_t i = 0; loads && i < masters.size(); ++i) {
    const json load = masters[i] ? json::parse(*masters[i], nullptr, false) : json();
    if (load.is_object()) figures[i] = figures_of(load);
  }
  const std::lock_guard lock(mutex_);
  note(masters_, masters, now);
  note(sites_, sites, now);
  for (std::size_t i = 0; i < std::min(masters_.size(), figures.size()); ++i) {
    if (!figures[i].is_null()) masters_[i].last = std::move(figures[i]);
  }
}

json LastAnswers::silent(const Texts& masters, const Texts& sites, Instant now) const {
  json all = json::array();
  const auto add = [&](const char* role, const std::vector<Known>& known, const Texts& answers) {
    for (std::size_t i = 0; i < std::min(known.size(), answers.size()); ++i) {
      if (answers[i]) continue;
      const Duration since = std::max(Duration::zero(), now - known[i].answered);
      all.push_back({{role, known[i].name}, {"since_s", to_seconds(since)}});
      if (!known[i].last.is_null()) all.back()["last"] = known[i].last;
    }
  };
  const std::lock_guard lock(mutex_);
  add("master", masters_, masters);
  add("site", sites_, sites);
  return all;
}

}  // namespace muster
