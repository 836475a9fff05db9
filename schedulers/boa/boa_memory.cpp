#include "schedulers/boa/boa_memory.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/boa/class_work.hpp"

namespace muster::boa {
namespace {

/// GPU-hours without which nothing is known of how many are rented for those that are used.
constexpr double kEnoughGpuHours = 10;
double hours(Duration time) {
  return to_seconds(time) / 3600;
}

/// The resource that workers are counted by.
Resource counted(const Resources& demand) {
  return demand[Resource::gpu] > 0 ? Resource::gpu : Resource::cpu;
}

}  // namespace

BoaMemory::BoaMemory(const BoaParams& params)
    : params_(params),
      stated_(by_class(params.arrivals.stated)),
      weights_(by_class(params.weights)) {}

void BoaMemory::observe(const Event& event, const ClusterView& view) {
  integrate(event, view);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    if (!std::holds_alternative<ElasticSpec>(accepted->job.kind)) return;
    learn(accepted->job, view);
  } else if (const auto* measured = std::get_if<Measured>(&event.body)) {
    hear(*measured, view);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    forget(*over);
  } else if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    if (round->note.choice == kRecomputed) replan(view.now);
    if (params_.keep_empty > Duration::zero()) note_empty(view);
  }
}

/// Jobs that leave bring a round about at once, so that rounds see an instance as soon as it is
/// empty.
void BoaMemory::note_empty(const ClusterView& view) {
  std::map<InstanceId, Instant> since;
  for (const InstanceRow& row : view.state.instances()) {
    const bool is_empty = row.occupants.empty() && row.planned.empty();
    if (!is_empty || row.released || row.phase != InstancePhase::ready) continue;
    const auto known = empty_since_.find(row.id);
    since[row.id] = known == empty_since_.end() ? view.now : known->second;
  }
  empty_since_ = std::move(since);
}

/// An instance that comes and is no longer waited for is as good to keep as a running one.
bool BoaMemory::keeps(const InstanceRow& row, Instant now) const {
  if (params_.keep_empty <= Duration::zero()) return false;
  const auto since = empty_since_.find(row.id);
  return since == empty_since_.end() || now - since->second < params_.keep_empty;
}

void BoaMemory::learn(const Job& job, const ClusterView& view) {
  const auto& elastic = std::get<ElasticSpec>(job.kind);
  ClassFacts& facts = classes_[job.workload_class];
  facts.epochs = elastic.epochs;
  facts.speedup = elastic.speedup;
  facts.rescale_h = hours(boa::rescale_of(job));
  const Shape worker{job.tasks.front().demands};  // a constraint is the job's, not the class's
  facts.node_holds = cheapest_host(worker, view.catalog).node_holds;
  if (params_.budget_usd_h > 0) facts.types = gpu_types_of(worker, view.catalog);
  const bool learns = params_.speedups == SpeedSource::learned || !states_speedups(elastic);
  if (!learns) {
    facts.learnt.reset();
  } else if (!facts.learnt) {
    facts.learnt.emplace(elastic);
  }
  if (!first_) first_ = view.now;
  facts.arrivals.push_back(view.now);
  facts.newest = view.now;
  ++facts.unfinished;
  while (facts.arrivals.front() < view.now - params_.arrivals.window) facts.arrivals.pop_front();
  jobs_[job.id] = {job.workload_class};
}

void BoaMemory::hear(const Measured& measured, const ClusterView& view) {
  for (const JobProgress& each : measured.progress) {
    const TaskRow* task = view.state.find(each.task);
    if (task == nullptr) continue;
    const JobRow& row = view.state.job(task->job);
    const auto job = jobs_.find(row.job.id);
    if (job == jobs_.end()) continue;
    JobSeen now{each.done, view.now, task->attempt, row.width};
    const auto known = classes_.find(job->second.workload_class);
    const bool learns = known != classes_.end() && known->second.learnt.has_value();
    job->second.seen = learns ? known->second.learnt->observe(each, job->second.seen, now) : now;
  }
}

void BoaMemory::forget(const JobFinished& over) {
  const auto job = jobs_.find(over.job);
  if (job == jobs_.end()) return;
  if (const auto known = classes_.find(job->second.workload_class); known != classes_.end()) {
    ClassFacts& facts = known->second;
    if (facts.learnt && over.outcome == JobOutcome::completed) {
      facts.learnt->observe_end(job->second.seen.done);
    }
    if (facts.unfinished > 0) --facts.unfinished;
  }
  jobs_.erase(job);
}

/// Only as a plan is made: the one that holds is for the classes that it was made for.
void BoaMemory::forget_idle_classes(Instant now) {
  std::vector<std::pair<Instant, std::string>> idle;
  for (auto& [name, facts] : classes_) {
    std::deque<Instant>& arrivals = facts.arrivals;
    while (!arrivals.empty() && arrivals.front() < now - params_.arrivals.window) {
      arrivals.pop_front();
    }
    if (facts.unfinished == 0) idle.emplace_back(facts.newest, name);
  }
  if (idle.size() <= kIdleClasses) return;
  const auto kept = idle.end() - static_cast<std::ptrdiff_t>(kIdleClasses);
  std::nth_element(idle.begin(), kept, idle.end());
  for (auto each = idle.begin(); each != kept; ++each) classes_.erase(each->second);
}

/// Between two events nothing changes, so that each event closes the time before it.
void BoaMemory::integrate(const Event& event, const ClusterView& view) {
  if (first_) {
    const double since = hours(view.now - std::max(integrated_, *first_));
    gpus_.used += now_.used * since;
    gpus_.rented += now_.rented * since;
  }
  integrated_ = view.now;
  if (params_.budget_usd_h > 0) {
    dollars_.observe(event, view);
    now_ = dollars_.usd_h();
    return;
  }
  const FleetSums& sums = view.state.sums();
  const Resources used = sums.used.value();
  const Resources rented = sums.open_capacity.value();
  const Resource kind = counted(rented);
  now_ = {used[kind], rented[kind]};
}

double BoaMemory::budget() const {
  return params_.budget_usd_h > 0 ? params_.budget_usd_h : params_.budget_gpus;
}

double BoaMemory::budget_for_jobs() const {
  if (params_.counts == BudgetCounts::used || gpus_.rented < kEnoughGpuHours) return budget();
  return budget() * std::clamp(gpus_.used / gpus_.rented, kLeastShare, 1.0);
}

double BoaMemory::rate_h(const std::string& name, const ClassFacts& facts, Instant now) const {
  if (!stated_.empty()) {
    const auto found = stated_.find(name);
    return found == stated_.end() ? 0 : found->second;
  }
  const Instant from = now - params_.arrivals.window;
  const auto counted_from = std::lower_bound(facts.arrivals.begin(), facts.arrivals.end(), from);
  const Duration over = std::clamp(now - *first_, std::min(kLeastCounted, params_.arrivals.window),
                                   params_.arrivals.window);
  return static_cast<double>(facts.arrivals.end() - counted_from) / hours(over);
}

std::vector<ClassWork> BoaMemory::work(Instant now) const {
  std::vector<ClassWork> all;
  for (const auto& [name, facts] : classes_) {
    const ElasticEpochs epochs =
        facts.learnt ? facts.learnt->epochs(facts.epochs, facts.node_holds) : facts.epochs;
    ClassWork& work = all.emplace_back(ClassWork{name, rate_h(name, facts, now), facts.rescale_h,
                                                 epochs_of(epochs, facts.speedup)});
    if (!params_.rescales) work.rescale_h = 0;
    const auto weight = weights_.find(name);
    if (weight != weights_.end()) work.weight = weight->second;
  }
  return all;
}

/// With all jobs as wide, and on the type, as costs least; starts included, as the plan pays for
/// them.
double BoaMemory::least_cost_of(const std::vector<ClassWork>& all) const {
  if (params_.budget_usd_h <= 0) return cheapest_widths(all).cost_gpus;
  const std::vector<GpuType> types = common_types();
  return types.empty() ? 0 : cheapest_types({all, types, hours(params_.cold_start)}).usd_h;
}

/// A budget is set to be kept. So a burst among the first jobs, of whose rates little is known,
/// does not make all jobs as narrow as if it were to last, nor a lull as wide.
void BoaMemory::allow_for_the_time_before(std::vector<ClassWork>& all, Instant now) const {
  const ArrivalRules& rules = params_.arrivals;
  if (rules.load_before <= 0 || !stated_.empty() || load_ <= 0) return;
  const double window_h = hours(rules.window);
  const double seen_h =
      std::clamp(hours(now - *first_), std::min(hours(kLeastCounted), window_h), window_h);
  const double of_window_h = std::min(window_h, seen_h + hours(rules.before));
  const double known = seen_h / of_window_h;
  const double before = rules.load_before * budget() / load_;
  for (ClassWork& each : all) each.jobs_per_h *= known + (1 - known) * before;
}

bool BoaMemory::is_due(Instant now) const {
  if (classes_.empty()) return false;
  if (is_overdue(now)) return true;
  return planned_.size() != classes_.size() || planned_known_ != widths_known();
}

bool BoaMemory::is_overdue(Instant now) const {
  return !classes_.empty() && (!planned_at_ || now >= *planned_at_ + params_.recompute);
}

std::uint64_t BoaMemory::steps_of_plan() const {
  constexpr std::uint64_t kPrices = 64;  // that a search for one looks at
  std::uint64_t epochs = 0;
  for (const auto& [name, facts] : classes_) {
    epochs += std::max<std::size_t>(facts.epochs.all().size(), 1);
  }
  return epochs * kPrices;
}

/// Rises whenever a class has been seen wider: until then a plan could not have it wider still.
std::uint64_t BoaMemory::widths_known() const {
  std::uint64_t sum = 0;
  for (const auto& [name, facts] : classes_) sum += facts.learnt ? facts.learnt->width_cap() : 0;
  return sum;
}

void BoaMemory::replan(Instant now) {
  // After a restart without a snapshot the journal may tell of a plan before it tells of a job.
  if (classes_.empty()) return;
  forget_idle_classes(now);
  planned_at_ = now;
  planned_known_ = widths_known();
  planned_.clear();
  for (const auto& [name, facts] : classes_) planned_.push_back(name);
  std::vector<ClassWork> all = work(now);
  load_ = least_cost_of(all);
  allow_for_the_time_before(all, now);
  families_.clear();
  types_.clear();
  stays_.clear();
  epoch_h_.clear();
  if (params_.budget_usd_h > 0) return replan_types(all);
  auto made = plan_by(params_.plan, all, budget_for_jobs());
  over_budget_.reset();
  if (made) {
    plan_ = std::move(made).value();
  } else {
    over_budget_ = made.error().message;
    plan_ = cheapest_widths(all);
  }
  time_epochs(all);
}

void BoaMemory::time_epochs(const std::vector<ClassWork>& all) {
  for (std::size_t c = 0; c < all.size(); ++c) {
    std::vector<double>& of_class = epoch_h_.emplace_back();
    for (std::size_t e = 0; e < all[c].epochs.size(); ++e) {
      const EpochWork& epoch = all[c].epochs[e];
      of_class.push_back(epoch.gpu_h / epoch.speedup[plan_.widths[c][e] - 1]);
    }
  }
}

/// Types that jobs of all classes may be on, where they cost as much and are as fast for all.
std::vector<GpuType> BoaMemory::common_types() const {
  std::vector<GpuType> types = classes_.begin()->second.types;
  for (const auto& [name, facts] : classes_) {
    std::erase_if(types, [&each = facts](const GpuType& type) {
      return std::ranges::find(each.types, type) == each.types.end();
    });
  }
  return types;
}

void BoaMemory::replan_types(const std::vector<ClassWork>& all) {
  over_budget_.reset();
  const std::vector<GpuType> types = common_types();
  if (types.empty()) {
    over_budget_ = "no type of GPU is one for all classes";
    plan_ = cheapest_widths(all);
    return;
  }
  const TypedWork typed{all, types, hours(params_.cold_start)};
  auto made = plan_types(typed, budget_for_jobs());
  if (!made) over_budget_ = made.error().message;
  const TypedWidthPlan plan = made ? std::move(made).value() : cheapest_types(typed);
  plan_ = {};
  for (const GpuType& type : types) types_.push_back(type.name);
  stays_ = plan.stays;
  for (const auto& widths : plan.widths) {
    auto& of_class = plan_.widths.emplace_back();
    auto& families = families_.emplace_back();
    for (const TypedWidth& each : widths) {
      of_class.push_back(each.width);
      families.push_back(types[each.type].name);
    }
  }
  plan_.mean_jct_h = plan.mean_jct_h;
  plan_.lower_bound_jct_h = plan.lower_bound_jct_h;
  for (const double gpus : plan.gpus) plan_.cost_gpus += gpus;
  plan_.least_gpus = plan.least_usd_h;
}

std::optional<BoaMemory::PlaceInPlan> BoaMemory::place_in_plan(const JobRow& job) const {
  const auto found = std::lower_bound(planned_.begin(), planned_.end(), job.job.workload_class);
  if (found == planned_.end() || *found != job.job.workload_class) return std::nullopt;
  const auto at = static_cast<std::size_t>(found - planned_.begin());
  const ElasticEpochs& epochs = std::get<ElasticSpec>(job.job.kind).epochs;
  const auto found_job = jobs_.find(job.job.id);
  const double done = found_job == jobs_.end() ? 0 : found_job->second.seen.done;
  const std::size_t own = epochs.at(done);
  const std::size_t epoch = std::min(own, plan_.widths[at].size() - 1);
  double ahead = 1;
  if (!epochs.empty()) {
    const double begun = own > 0 ? epochs.all()[own - 1].until : 0;
    const double until = epochs.all()[own].until;
    ahead = std::clamp((until - done) / (until - begun), 0.0, 1.0);
  }
  return PlaceInPlan{at, epoch, ahead};
}

/// Of a job that is on the family; null where no plan compares it with others.
const TypeStay* BoaMemory::stay_on(const PlaceInPlan& place, std::string_view family) const {
  const auto type = std::ranges::find(types_, family);
  if (type == types_.end() || stays_.empty()) return nullptr;
  return &stays_[place.work_class][place.epoch][static_cast<std::size_t>(type - types_.begin())];
}

WidthGoal BoaMemory::goal_of(const JobRow& job, std::string_view on) const {
  const auto place = place_in_plan(job);
  if (!place) return {};
  const auto& elastic = std::get<ElasticSpec>(job.job.kind);
  const auto within = [&](std::uint32_t width) {
    return std::clamp(width, elastic.min_width, elastic.max_width);
  };
  const auto& [at, epoch, ahead] = *place;
  const auto& shared = plan_.shared;
  const bool other_way =
      shared && shared->work_class == at && takes_share(job.job.id, shared->share);
  const auto& widths = other_way ? shared->widths : plan_.widths[at];
  const std::string_view family =
      families_.empty() ? std::string_view() : std::string_view(families_[at][epoch]);
  const TypeStay* stay = on == family ? nullptr : stay_on(*place, on);
  if (stay != nullptr && !stay->is_left(job.width, ahead)) return {within(stay->width), on};
  return {within(widths[epoch]), family};
}

double BoaMemory::hours_at_width(const JobRow& job) const {
  const auto& elastic = std::get<ElasticSpec>(job.job.kind);
  const auto place = place_in_plan(job);
  if (!place || epoch_h_.empty() || elastic.epochs.empty()) return 0;
  const std::vector<std::uint32_t>& widths = plan_.widths[place->work_class];
  const std::vector<double>& hours = epoch_h_[place->work_class];
  double sum = 0;
  for (std::size_t e = place->epoch; e < hours.size(); ++e) {
    if (std::clamp(widths[e], elastic.min_width, elastic.max_width) != job.width) break;
    // A job that may not be as wide as is planned is at most that much faster, and no slower if it
    // is narrower.
    const double faster = std::max(1.0, static_cast<double>(job.width) / widths[e]);
    sum += hours[e] / faster * (e == place->epoch ? place->ahead : 1);
  }
  return sum;
}

Duration BoaMemory::rescale_of(const JobRow& job) const {
  const auto found = classes_.find(job.job.workload_class);
  return found == classes_.end() ? Duration{} : from_seconds(found->second.rescale_h * 3600);
}

}  // namespace muster::boa
