#include "tools/experiment/findings.hpp"

#include <algorithm>
#include <map>
#include <set>

// Statistics over seeds. Differences are paired: two policies meet the same world under one seed,
// so that what the worlds differ by does not hide what the policies do.

namespace muster::experiment {
namespace {

constexpr const char* kNotes = "round_figures";
constexpr const char* kPurposes = "cost_by_purpose";

std::optional<double> number_of(const RunJson& json) {
  return json.is_number() ? std::optional<double>(json.get<double>()) : std::nullopt;
}

std::vector<Figure> figures_of_metrics() {
  std::vector<Figure> figures;
  for (const metrics::Metric& metric : metrics::metric_table()) {
    // A run alone is its own baseline: its ratios are 1, and ours are made here.
    if (!metric.relative_to.empty()) continue;
    figures.push_back(
        {metric.key, metric.unit, metric.better, metric.timed, metric.column, metric.how});
  }
  return figures;
}

/// The members of an object that any run has, in the order in which they came up.
std::vector<Figure> figures_below(const std::vector<std::optional<RunJson>>& runs,
                                  const std::string& group, const std::string& unit) {
  std::vector<Figure> figures;
  std::set<std::string> known;
  for (const auto& run : runs) {
    if (!run || !run->contains(group) || !run->at(group).is_object()) continue;
    for (const auto& member : run->at(group).items()) {
      const std::string key = group + "." + member.key();
      if (known.insert(key).second) figures.push_back({.key = key, .unit = unit, .column = {}});
    }
  }
  return figures;
}

std::vector<Figure> figures_in(const std::vector<std::optional<RunJson>>& runs) {
  std::vector<Figure> figures = figures_of_metrics();
  for (const auto& more :
       {figures_below(runs, kPurposes, "$"), figures_below(runs, kNotes, "mean")}) {
    figures.insert(figures.end(), more.begin(), more.end());
  }
  std::erase_if(figures, [&](const Figure& figure) {
    return std::none_of(runs.begin(), runs.end(),
                        [&](const auto& run) { return run && value_in(*run, figure); });
  });
  return figures;
}

/// Puts the runs of a plan together, point by point.
class Finder {
 public:
  Finder(const Plan& plan, const std::vector<std::optional<RunJson>>& runs)
      : plan_(plan), runs_(runs), by_seed_(plan.points.size()) {
    found_.figures = figures_in(runs);
    found_.points.resize(plan.points.size());
  }

  Findings all() {
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      PointFindings& point = found_.points[plan_.runs[i].point];
      ++point.wanted;
      if (!runs_[i]) continue;
      point.done.push_back(i);
      by_seed_[plan_.runs[i].point][plan_.runs[i].seed] = i;
    }
    for (PointFindings& point : found_.points) point.seedless = is_seedless(point);
    for (std::size_t i = 0; i < found_.points.size(); ++i) {
      for (const Figure& figure : found_.figures) {
        found_.points[i].findings.push_back(finding_of(i, figure));
      }
    }
    return std::move(found_);
  }

 private:
  bool is_seedless(const PointFindings& point) const {
    if (point.done.size() < 2) return false;
    return std::all_of(found_.figures.begin(), found_.figures.end(), [&](const Figure& figure) {
      if (figure.timed) return true;
      const auto first = value_in(*runs_[point.done.front()], figure);
      return std::all_of(point.done.begin(), point.done.end(), [&](std::size_t planned) {
        return value_in(*runs_[planned], figure) == first;
      });
    });
  }

  std::optional<Finding> finding_of(std::size_t index, const Figure& figure) const {
    const PointFindings& point = found_.points[index];
    std::vector<double> values;
    for (const std::size_t planned : point.done) {
      if (const auto value = value_in(*runs_[planned], figure)) values.push_back(*value);
    }
    if (values.empty()) return std::nullopt;
    Finding finding{statistics_of(values), {}, {}};
    if (point.seedless && !figure.timed) forget_spread(finding.own);
    compare(index, figure, finding);
    return finding;
  }

  void compare(std::size_t index, const Figure& figure, Finding& finding) const {
    const std::optional<std::size_t> baseline = plan_.points[index].baseline;
    if (!baseline || *baseline == index) return;
    std::vector<double> differences, ratios;
    for (const auto& [seed, planned] : by_seed_[index]) {
      const auto other = by_seed_[*baseline].find(seed);
      if (other == by_seed_[*baseline].end()) continue;
      const auto value = value_in(*runs_[planned], figure);
      const auto base = value_in(*runs_[other->second], figure);
      if (!value || !base) continue;
      differences.push_back(*value - *base);
      if (*base > 0) ratios.push_back(*value / *base);
    }
    if (differences.empty()) return;
    finding.difference = statistics_of(differences);
    // A mean of the ratios of some seeds only would be of other runs than the difference.
    if (ratios.size() == differences.size()) finding.ratio = statistics_of(ratios);
    if (figure.timed || !found_.points[index].seedless || !found_.points[*baseline].seedless) {
      return;
    }
    forget_spread(*finding.difference);
    if (finding.ratio) forget_spread(*finding.ratio);
  }

  static void forget_spread(Statistics& of) { of.deviation = of.half_width = std::nullopt; }

  const Plan& plan_;
  const std::vector<std::optional<RunJson>>& runs_;
  std::vector<std::map<std::uint64_t, std::size_t>> by_seed_;  ///< of each point, the runs
  Findings found_;
};

}  // namespace

std::optional<double> value_in(const RunJson& run, const Figure& figure) {
  const std::size_t dot = figure.key.find('.');
  const auto member = run.find(figure.key.substr(0, dot));
  if (member == run.end()) return std::nullopt;
  if (dot == std::string::npos) return number_of(*member);
  if (!member->is_object()) return std::nullopt;
  const auto inner = member->find(figure.key.substr(dot + 1));
  if (inner == member->end()) return std::nullopt;
  // A figure of notes is an object with its mean over the rounds.
  if (inner->is_object())
    return inner->contains("mean") ? number_of(inner->at("mean")) : std::nullopt;
  return number_of(*inner);
}

Findings find(const Plan& plan, const std::vector<std::optional<RunJson>>& runs) {
  return Finder(plan, runs).all();
}

std::optional<std::size_t> position_of(const Findings& findings, const std::string& key) {
  const auto found = std::find_if(findings.figures.begin(), findings.figures.end(),
                                  [&](const Figure& figure) { return figure.key == key; });
  if (found == findings.figures.end()) return std::nullopt;
  return static_cast<std::size_t>(found - findings.figures.begin());
}

}  // namespace muster::experiment
