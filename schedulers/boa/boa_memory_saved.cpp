#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "schedulers/boa/boa_memory.hpp"
#include "schedulers/saved_text.hpp"

// What the policy remembers as text, with which a master that starts again goes on.

namespace muster::boa {
namespace {

using nlohmann::json;

json types_json(const std::vector<GpuType>& types) {
  json all = json::array();
  for (const GpuType& type : types) all.push_back({type.name, type.usd_h, type.speed});
  return all;
}

json stays_json(const std::vector<std::vector<std::vector<TypeStay>>>& stays) {
  json all = json::array();
  for (const auto& epochs : stays) {
    json& of_class = all.emplace_back(json::array());
    for (const auto& types : epochs) {
      json& of_epoch = of_class.emplace_back(json::array());
      for (const TypeStay& stay : types) {
        of_epoch.push_back({stay.width, stay.start, stay.more_in_epoch, stay.more_afterwards});
      }
    }
  }
  return all;
}

/// Nothing when they are not those of a plan with these widths and types.
std::optional<std::vector<std::vector<std::vector<TypeStay>>>> stays_of(
    const json& all, const std::vector<std::vector<std::uint32_t>>& widths, std::size_t types) {
  std::vector<std::vector<std::vector<TypeStay>>> stays;
  for (const json& of_class : all) {
    auto& epochs = stays.emplace_back();
    for (const json& of_epoch : of_class) {
      auto& each = epochs.emplace_back();
      for (const json& stay : of_epoch) {
        each.push_back({stay.at(0), stay.at(1), stay.at(2), stay.at(3)});
      }
      if (each.size() != types) return std::nullopt;
    }
    if (stays.size() > widths.size() || epochs.size() != widths[stays.size() - 1].size()) {
      return std::nullopt;
    }
  }
  if (!stays.empty() && stays.size() != widths.size()) return std::nullopt;
  return stays;
}

std::optional<Instant> instant_of(const json& value) {
  if (value.is_null()) return std::nullopt;
  return Instant{Duration{value.get<std::int64_t>()}};
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
  for (const json& at : entry.at(4)) facts.arrivals.push_back(*instant_of(at));
  if (!entry.at(5).is_null()) {
    facts.learnt = ClassSpeeds::load(entry.at(5));
    if (!facts.learnt) return std::nullopt;
  }
  facts.node_holds = entry.at(6);
  // An earlier version kept neither the types of a class nor families.
  for (const json& type : entry.size() > 7 ? entry.at(7) : json::array()) {
    facts.types.push_back({type.at(0), type.at(1), type.at(2)});
  }
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
    (next++)->second.newest = Instant{Duration{at.get<std::int64_t>()}};
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
                       types_json(facts.types)});
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
  const auto instant = [](const std::optional<Instant>& at) {
    return at ? json(at->time_since_epoch().count()) : json(nullptr);
  };
  all["first"] = instant(first_);
  all["planned_at"] = instant(planned_at_);
  json& planned = all["planned"] = json::array();
  for (const std::string& name : planned_) planned.push_back(saved_text(name));
  all["planned_known"] = planned_known_;
  all["widths"] = plan_.widths;
  all["families"] = families_;
  all["types"] = types_;
  all["stays"] = stays_json(stays_);
  all["epoch_h"] = epoch_h_;
  const auto& shared = plan_.shared;
  all["shared"] = shared ? json{shared->work_class, shared->share, shared->widths} : json(nullptr);
  all["figures"] = {plan_.mean_jct_h, plan_.cost_gpus, plan_.least_gpus, plan_.lower_bound_jct_h,
                    load_};
  all["over_budget"] = over_budget_ ? json(*over_budget_) : json(nullptr);
  all["gpus"] = {gpus_.used, gpus_.rented, now_.used, now_.rented};
  json& empty = all["empty_since"] = json::array();
  for (const auto& [id, since] : empty_since_) {
    empty.push_back({id.value, since.time_since_epoch().count()});
  }
  all["integrated"] = instant(integrated_);
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
      job.seen = {entry.at(2), *instant_of(entry.at(3)), entry.at(4), entry.at(5), entry.at(6)};
      const auto of_class = read.classes_.find(job.workload_class);
      if (of_class == read.classes_.end()) return false;
      ++of_class->second.unfinished;
    }
    read.first_ = instant_of(all.at("first"));
    if (!read.first_ && !read.classes_.empty()) return false;
    read.planned_at_ = instant_of(all.at("planned_at"));
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
    read.integrated_ = instant_of(all.at("integrated")).value_or(Instant{});
    if (read.planned_.size() != read.plan_.widths.size()) return false;
    read.families_ = all.value("families", std::vector<std::vector<std::string>>{});
    if (!is_by_epoch(read.families_, read.plan_)) return false;
    for (const json& entry : all.value("empty_since", json::array())) {
      read.empty_since_[InstanceId{entry.at(0)}] = *instant_of(entry.at(1));
    }
    // An earlier version kept none: with its plan jobs move as planned.
    read.types_ = all.value("types", std::vector<std::string>{});
    auto stays = stays_of(all.value("stays", json::array()), read.plan_.widths, read.types_.size());
    if (!stays) return false;
    read.stays_ = *std::move(stays);
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
  }
}

}  // namespace muster::boa
