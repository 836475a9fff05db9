#include "serve/node/last_answers.hpp"

#include <algorithm>
#include <utility>

namespace muster {

LastAnswers::LastAnswers(std::vector<std::string> masters, std::vector<std::string> sites,
                         Instant began) {
  for (std::string& name : masters) masters_.push_back({std::move(name), began});
  for (std::string& name : sites) sites_.push_back({std::move(name), began});
}

void LastAnswers::note(std::vector<Known>& known, const Answered& answers, Instant now) {
  for (std::size_t i = 0; i < std::min(known.size(), answers.size()); ++i) {
    if (answers[i]) known[i].answered = std::max(known[i].answered, now);
  }
}

void LastAnswers::on_load(const Answered& masters, const Answered& sites, Instant now) {
  const std::lock_guard lock(mutex_);
  note(masters_, masters, now);
  note(sites_, sites, now);
}

void LastAnswers::persist(const std::vector<std::optional<CellFigures>>& masters) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < std::min(masters_.size(), masters.size()); ++i) {
    if (!masters[i]) continue;
    const CellFigures& said = *masters[i];
    masters_[i].last = LastFigures{said.usd_h,          said.today_usd,   said.total_usd,
                                   said.instance_count, said.active_jobs, said.waiting_tasks()};
  }
}

Silent LastAnswers::silent(const Answered& masters, const Answered& sites, Instant now) {
  on_load(masters, sites, now);
  Silent all;
  const auto add = [&](std::string SilentView::*name, const std::vector<Known>& known,
                       const Answered& answers) {
    for (std::size_t i = 0; i < std::min(known.size(), answers.size()); ++i) {
      if (answers[i]) continue;
      const Duration since = std::max(Duration::zero(), now - known[i].answered);
      SilentView one{.since = since, .last = known[i].last};
      one.*name = known[i].name;
      all.push_back(std::move(one));
    }
  };
  const std::lock_guard lock(mutex_);
  add(&SilentView::master, masters_, masters);
  add(&SilentView::site, sites_, sites);
  return all;
}

}  // namespace muster
