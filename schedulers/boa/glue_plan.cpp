#include "schedulers/boa/glue_plan.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "model/check.hpp"
#include "model/rng.hpp"

namespace muster::boa {
namespace {

/// Of what is left to run on after a try that came out above the budget.
constexpr double kShrink = 0.99;
/// Shrinkings of one configuration, at the most: a hundred-thousandth of the budget is left then.
constexpr int kMostShrinkings = 1200;

/// How many powers of two there are up to the number of epochs.
std::size_t exponents_of(const ClassWork& work) {
  return static_cast<std::size_t>(std::bit_width(work.epochs.size()));
}

}  // namespace

std::vector<RunOption> glued_options(const RunFigures& figures, std::size_t begin,
                                     std::size_t end) {
  std::vector<RunOption> options;
  options.reserve(figures.most());
  for (std::uint32_t width = 1; width <= figures.most(); ++width) {
    const double hours = figures.hours_at({begin, end, width});
    options.push_back({hours, hours * width, width, 0});
  }
  return efficient_options(std::move(options));
}

GluePlanner::GluePlanner(const std::vector<ClassWork>& classes) : work_(classes) {
  for (const ClassWork& work : classes) {
    GluedClass& glued = classes_.emplace_back(GluedClass{RunFigures(work)});
    glued.groups.resize(exponents_of(work));
    for (std::size_t exponent = 0; exponent < glued.groups.size(); ++exponent) {
      const std::size_t glue = std::size_t{1} << exponent;
      for (std::size_t begin = 0; begin < work.epochs.size(); begin += glue) {
        const std::size_t end = std::min(begin + glue, work.epochs.size());
        glued.groups[exponent].push_back(glued_options(glued.figures, begin, end));
      }
    }
  }
}

std::vector<PairLoad> GluePlanner::pairs_of(const std::vector<std::size_t>& exponents) const {
  std::vector<PairLoad> pairs;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (const std::vector<RunOption>& options : classes_[c].groups[exponents[c]]) {
      pairs.push_back({work_[c].jobs_per_h, work_[c].weight, options});
    }
  }
  return pairs;
}

/// The runs of one class; `group` goes on to the first one of the next class.
WidthPath GluePlanner::path_of(const Candidate& candidate, std::size_t c,
                               std::size_t& group) const {
  const std::size_t glue = std::size_t{1} << candidate.exponents[c];
  const std::size_t epochs = work_[c].epochs.size();
  WidthPath path;
  for (std::size_t begin = 0; begin < epochs; begin += glue) {
    extend(path, {begin, std::min(begin + glue, epochs), candidate.widths[group++]});
  }
  return path;
}

/// Lemma 4.8: hours and GPUs with a start wherever the width changes.
void GluePlanner::evaluate(Candidate& candidate) const {
  candidate.hours = candidate.gpus = 0;
  std::size_t group = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const JobFigures job = classes_[c].figures.of(path_of(candidate, c, group));
    candidate.hours += work_[c].jobs_per_h * work_[c].weight * job.hours;
    candidate.gpus += work_[c].jobs_per_h * job.gpu_h;
  }
}

/// The largest budget for running that leaves enough for starting; nothing: no budget does.
std::optional<GluePlanner::Candidate> GluePlanner::best_of(
    const std::vector<std::size_t>& exponents, double budget_gpus, const GlueRules& rules) const {
  const std::vector<PairLoad> pairs = pairs_of(exponents);
  const BudgetSpender spender(pairs);
  const auto try_with = [&](double running_gpus) {
    Candidate candidate{exponents};
    const auto allocation = spender.spend(running_gpus);
    // The pair that is split keeps its narrower width, which costs no more.
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      candidate.widths.push_back(pairs[p].options[allocation->chosen[p]].width);
    }
    evaluate(candidate);
    return candidate;
  };
  // A budget that is more than enough need not be shrunk step by step.
  double running_gpus = std::min(budget_gpus, spender.most_cost());
  double over_gpus = running_gpus;
  std::optional<Candidate> best;
  // As printed the loop would go on below what any widths need.
  for (int i = 0; i < kMostShrinkings && running_gpus >= spender.least_cost(); ++i) {
    Candidate candidate = try_with(running_gpus);
    if (candidate.gpus <= budget_gpus) {
      best = std::move(candidate);
      break;
    }
    over_gpus = std::exchange(running_gpus, running_gpus * kShrink);
  }
  // A hundredth of the budget is worth a good deal where it is short.
  for (std::uint32_t i = 0; best && i < rules.refinements && over_gpus > running_gpus; ++i) {
    const double between = (running_gpus + over_gpus) / 2;
    Candidate candidate = try_with(between);
    const bool fits = candidate.gpus <= budget_gpus;
    (fits ? running_gpus : over_gpus) = between;
    if (fits && candidate.hours < best->hours) best = std::move(candidate);
  }
  return best;
}

Expected<WidthPlan, WidthError> GluePlanner::plan_of(const std::optional<Candidate>& candidate,
                                                     double budget_gpus) const {
  const BudgetSpender apart(pairs_of(std::vector<std::size_t>(classes_.size())));
  if (!candidate) {
    return Failure<WidthError>{WidthError::over_budget,
                               "no gluing of epochs keeps a budget of " +
                                   std::to_string(budget_gpus) + " GPUs; the jobs need " +
                                   std::to_string(apart.least_cost()) +
                                   " on average at least, starts not counted"};
  }
  WidthPlan plan;
  double jobs_per_h = 0;
  double hours = 0;
  double starts = 0;  // each job starts once at least: sum of rate x weight x hours
  std::size_t group = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const WidthPath path = path_of(*candidate, c, group);
    std::vector<std::uint32_t>& widths = plan.widths.emplace_back();
    for (const WidthRun& run : path) widths.insert(widths.end(), run.end - run.begin, run.width);
    jobs_per_h += work_[c].jobs_per_h;
    hours += work_[c].jobs_per_h * plan.jobs.emplace_back(classes_[c].figures.of(path)).hours;
    starts += work_[c].jobs_per_h * work_[c].weight * work_[c].rescale_h;
  }
  plan.cost_gpus = candidate->gpus;
  plan.least_gpus = apart.least_cost();
  if (jobs_per_h > 0) plan.mean_jct_h = hours / jobs_per_h;
  if (const double weighted = weighted_rate(work_); weighted > 0) {
    plan.weighted_jct_h = candidate->hours / weighted;
    plan.lower_bound_jct_h = (apart.spend(budget_gpus)->time + starts) / weighted;
  }
  return plan;
}

Expected<WidthPlan, WidthError> GluePlanner::plan(double budget_gpus,
                                                  const GlueRules& rules) const {
  Rng rng(rules.seed);
  std::optional<Candidate> best;
  for (std::uint32_t drawn = 0; drawn < rules.configurations; ++drawn) {
    std::vector<std::size_t> exponents;
    for (const GluedClass& glued : classes_) exponents.push_back(rng.below(glued.groups.size()));
    auto candidate = best_of(exponents, budget_gpus, rules);
    if (candidate && (!best || candidate->hours < best->hours)) best = std::move(candidate);
  }
  return plan_of(best, budget_gpus);
}

Expected<WidthPlan, WidthError> GluePlanner::plan_as(const std::vector<std::uint32_t>& glue,
                                                     double budget_gpus,
                                                     const GlueRules& rules) const {
  MUSTER_CHECK(glue.size() == classes_.size(), "each class has a glue");
  std::vector<std::size_t> exponents;
  for (std::size_t c = 0; c < glue.size(); ++c) {
    MUSTER_CHECK(std::has_single_bit(glue[c]) && glue[c] <= work_[c].epochs.size(),
                 "a glue is a power of two, and there are as many epochs");
    exponents.push_back(static_cast<std::size_t>(std::countr_zero(glue[c])));
  }
  return plan_of(best_of(exponents, budget_gpus, rules), budget_gpus);
}

}  // namespace muster::boa
