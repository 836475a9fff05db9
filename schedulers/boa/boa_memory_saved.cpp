#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/fields.hpp"
#include "schedulers/boa/boa_memory.hpp"
#include "schedulers/saved_lines.hpp"
#include "schedulers/saved_text.hpp"

// The policy's memory as text, with which a master that starts again goes on.

namespace muster::boa {

void line(auto& a, Like<GpuType> auto& type) {
  a(type.name, type.usd_h, type.speed);
}

void line(auto& a, Like<TypeStay> auto& stay) {
  a(stay.width, stay.start, stay.more_in_epoch, stay.more_afterwards);
}

namespace {

using nlohmann::json;
using Stays = std::vector<std::vector<std::vector<TypeStay>>>;

/// They are those of a plan with these widths and types.
bool are_of(const Stays& stays, const std::vector<std::vector<std::uint32_t>>& widths,
            std::size_t types) {
  if (stays.empty()) return true;
  const auto of_all_types = [&](const auto& epoch) { return epoch.size() == types; };
  return std::equal(stays.begin(), stays.end(), widths.begin(), widths.end(),
                    [&](const auto& epochs, const auto& of_class) {
                      return epochs.size() == of_class.size() &&
                             std::all_of(epochs.begin(), epochs.end(), of_all_types);
                    });
}

/// Nothing when what was learnt is not understood.
std::optional<ClassFacts> facts_of(const json& entry) {
  ClassFacts facts;
  std::vector<ElasticEpoch> epochs;
  for (const json& epoch : entry.at(1)) {
    epochs.push_back({epoch.at(0), epoch.at(1), epoch.at(2), epoch.at(3)});
  }
  facts.epochs = ElasticEpochs(std::move(epochs));
  facts.speedup = entry.at(2).get<std::vector<double>>();
  facts.rescale_h = entry.at(3);
  for (const json& at : entry.at(4)) facts.arrivals.push_back(saved::loaded<Instant>(at));
  if (!entry.at(5).is_null()) {
    facts.learnt = ClassSpeeds::load(entry.at(5));
    if (!facts.learnt) return std::nullopt;
  }
  facts.node_holds = entry.at(6);
  // An earlier version kept neither the types of a class nor families.
  if (entry.size() > 7) saved::Reader::get(entry.at(7), facts.types);
  if (!facts.arrivals.empty()) facts.newest = facts.arrivals.back();
  return facts;
}

/// False when they are not understood.
bool read_classes(const json& all, std::map<std::string, ClassFacts>& classes) {
  for (const json& entry : all.at("classes")) {
    auto facts = facts_of(entry);
    const auto name = loaded_text(entry.at(0));
    if (!facts || !name) return false;
    classes[*name] = *std::move(facts);
  }
  // An earlier version kept the arrivals alone.
  const json newest = all.value("newest", json::array());
  auto next = classes.begin();
  for (const json& at : newest) {
    if (next == classes.end()) return false;
    (next++)->second.newest = saved::loaded<Instant>(at);
  }
  return true;
}

/// False when it names a class that it has not.
bool read_plan(const json& all, WidthPlan& plan) {
  plan.widths = all.at("widths").get<std::vector<std::vector<std::uint32_t>>>();
  if (const json& shared = all.at("shared"); !shared.is_null()) {
    plan.shared = {shared.at(0), shared.at(1), shared.at(2)};
    if (plan.shared->work_class >= plan.widths.size()) return false;
  }
  const json& figures = all.at("figures");
  plan.mean_jct_h = figures.at(0);
  plan.cost_gpus = figures.at(1);
  plan.least_gpus = figures.at(2);
  plan.lower_bound_jct_h = figures.at(3);
  return true;
}

/// Something is said of each epoch of each class of the plan, or nothing of any.
template <class T>
bool is_by_epoch(const std::vector<std::vector<T>>& said, const WidthPlan& plan) {
  if (said.empty()) return true;
  return std::equal(said.begin(), said.end(), plan.widths.begin(), plan.widths.end(),
                    [](const auto& a, const auto& b) { return a.size() == b.size(); });
}

}  // namespace

std::string BoaMemory::save() const {
  json all;
  json classes = json::array(), newest = json::array();
  for (const auto& [name, facts] : classes_) {
    json arrivals = json::array();
    for (const Instant at : facts.arrivals) arrivals.push_back(at.time_since_epoch().count());
    json epochs = json::array();
    for (const ElasticEpoch& epoch : facts.epochs.all()) {
      epochs.push_back({epoch.until, epoch.rate_per_s, epoch.speedup, epoch.spread});
    }
    classes.push_back({saved_text(name), epochs, facts.speedup, facts.rescale_h, arrivals,
                       facts.learnt ? facts.learnt->save() : json(nullptr), facts.node_holds,
                       saved::saved(facts.types)});
    newest.push_back(facts.newest.time_since_epoch().count());
  }
  all["classes"] = std::move(classes);
  all["newest"] = std::move(newest);
  json& jobs = all["jobs"] = json::array();
  for (const auto& [id, job] : jobs_) {
    const JobSeen& seen = job.seen;
    jobs.push_back({id.value, saved_text(job.workload_class), seen.done,
                    seen.at.time_since_epoch().count(), seen.attempt, seen.width, seen.went_on});
  }
  all["first"] = saved::saved(first_);
  all["planned_at"] = saved::saved(planned_at_);
  json& planned = all["planned"] = json::array();
  for (const std::string& name : planned_) planned.push_back(saved_text(name));
  all["planned_known"] = planned_known_;
  all["widths"] = plan_.widths;
  all["families"] = families_;
  all["types"] = types_;
  all["stays"] = saved::saved(stays_);
  all["epoch_h"] = epoch_h_;
  const auto& shared = plan_.shared;
  all["shared"] = shared ? json{shared->work_class, shared->share, shared->widths} : json(nullptr);
  all["figures"] = {plan_.mean_jct_h, plan_.cost_gpus, plan_.least_gpus, plan_.lower_bound_jct_h,
                    load_};
  all["over_budget"] = over_budget_ ? json(*over_budget_) : json(nullptr);
  all["gpus"] = {gpus_.used, gpus_.rented, now_.used, now_.rented};
  all["empty_since"] = saved::saved(empty_since_);
  all["integrated"] = saved::saved(integrated_);
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool BoaMemory::load(std::string_view text, const ClusterView& view) {
  try {
    const json all = json::parse(text);
    BoaMemory read(params_);
    if (!read_classes(all, read.classes_)) return false;
    for (const json& entry : all.at("jobs")) {
      UnfinishedJob& job = read.jobs_[JobId{entry.at(0)}];
      job.workload_class = loaded_text(entry.at(1)).value_or("");
      job.seen = {entry.at(2), saved::loaded<Instant>(entry.at(3)), entry.at(4), entry.at(5),
                  entry.at(6)};
      const auto of_class = read.classes_.find(job.workload_class);
      if (of_class == read.classes_.end()) return false;
      ++of_class->second.unfinished;
    }
    saved::Reader::get(all.at("first"), read.first_);
    if (!read.first_ && !read.classes_.empty()) return false;
    saved::Reader::get(all.at("planned_at"), read.planned_at_);
    for (const json& name : all.at("planned")) {
      read.planned_.push_back(loaded_text(name).value_or(""));
    }
    read.planned_known_ = all.at("planned_known");
    if (!read_plan(all, read.plan_)) return false;
    const json& figures = all.at("figures");
    // An earlier version did not tell the two apart.
    read.load_ = figures.at(figures.size() > 4 ? 4 : 2);
    if (!all.at("over_budget").is_null()) read.over_budget_ = all.at("over_budget");
    const json& gpus = all.at("gpus");
    read.gpus_ = {gpus.at(0), gpus.at(1)};
    read.now_ = {gpus.at(2), gpus.at(3)};
    read.integrated_ =
        saved::loaded<std::optional<Instant>>(all.at("integrated")).value_or(Instant{});
    if (read.planned_.size() != read.plan_.widths.size()) return false;
    read.families_ = all.value("families", std::vector<std::vector<std::string>>{});
    if (!is_by_epoch(read.families_, read.plan_)) return false;
    saved::Reader::get(all.value("empty_since", json::array()), read.empty_since_);
    // An earlier version kept none: with its plan jobs move as planned.
    read.types_ = all.value("types", std::vector<std::string>{});
    saved::Reader::get(all.value("stays", json::array()), read.stays_);
    if (!are_of(read.stays_, read.plan_.widths, read.types_.size())) return false;
    read.epoch_h_ = all.value("epoch_h", std::vector<std::vector<double>>{});
    if (!is_by_epoch(read.epoch_h_, read.plan_)) return false;
    if (params_.budget_usd_h > 0) {
      read.dollars_.recount(view);
      read.now_ = read.dollars_.usd_h();
    }
    *this = std::move(read);
    return true;
  } catch (const json::exception&) {
    return false;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::boa
