#include "tools/experiment/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

// Lays grids out. An axis that a run does not look at, as a {name} that only some policies have,
// makes points of equal runs: those are told by their digests and run once.

namespace muster::experiment {
namespace {

using Names = std::map<std::string, std::string>;

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

/// The text with every {name} filled in. Braces around anything but a word stay, as values may be
/// tables, and so do variables of the environment as ${NAME}, with which paths begin; a word that
/// is no name is put into `unknown`.
std::string filled(std::string_view text, const Names& names, std::set<std::string>& unknown) {
  std::string full;
  while (true) {
    const std::size_t open = text.find('{');
    full += text.substr(0, open);
    if (open == std::string_view::npos) return full;
    const std::size_t close = text.find('}', open);
    const std::string_view word =
        close == std::string_view::npos ? "" : text.substr(open + 1, close - open - 1);
    const auto name = names.find(std::string(word));
    if (name != names.end()) {
      full += name->second;
      text.remove_prefix(close + 1);
      continue;
    }
    const bool variable = open > 0 && text[open - 1] == '$';
    if (is_word(word) && !variable) unknown.insert(std::string(word));
    full += '{';
    text.remove_prefix(open + 1);
  }
}

/// The axes of a grid in the order in which they are counted through, the last one first.
struct Axes {
  std::vector<Axis> all;

  explicit Axes(const Grid& grid) {
    Axis configs{"config", {}}, variants{"variant", {}};
    for (const auto& config : grid.configs) configs.values.push_back(config.string());
    for (const Variant& variant : grid.variants) variants.values.push_back(variant.name);
    if (variants.values.empty()) variants.values.emplace_back();
    all = {configs, variants};
    all.insert(all.end(), grid.set.begin(), grid.set.end());
    all.insert(all.end(), grid.values.begin(), grid.values.end());
    all.push_back({"policy", grid.policies});
  }

  double combinations() const {
    double count = 1;
    for (const Axis& axis : all) count *= static_cast<double>(axis.values.size());
    return count;
  }

  /// The values of combination `index`.
  std::vector<Label> at(std::size_t index) const {
    std::vector<Label> labels(all.size());
    for (std::size_t i = all.size(); i-- > 0;) {
      labels[i] = {all[i].name, all[i].values[index % all[i].values.size()]};
      index /= all[i].values.size();
    }
    return labels;
  }
};

/// The same config under another folder would be another label: its name is enough where it tells
/// the configs apart.
std::string shown_value(const Label& label, const Grid& grid) {
  if (label.axis != "config") return label.value;
  const std::string stem = std::filesystem::path(label.value).stem().string();
  const auto same = std::count_if(grid.configs.begin(), grid.configs.end(),
                                  [&](const auto& config) { return config.stem() == stem; });
  return same == 1 ? stem : label.value;
}

bool is_skipped(const Grid& grid, const std::vector<Label>& labels, std::uint64_t seed) {
  const auto has_one_of = [&](const Axis& axis) {
    const auto is_wanted = [&](const std::string& value) {
      return std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end();
    };
    if (axis.name == "seed") return is_wanted(std::to_string(seed));
    return std::any_of(labels.begin(), labels.end(), [&](const Label& label) {
      return label.axis == axis.name &&
             (is_wanted(label.value) || is_wanted(shown_value(label, grid)));
    });
  };
  return std::any_of(grid.skips.begin(), grid.skips.end(), [&](const Skip& skip) {
    return std::all_of(skip.where.begin(), skip.where.end(), has_one_of);
  });
}

/// Lays out one grid after the other.
class Layout {
 public:
  Layout(const Experiment& experiment, const PlanLimits& limits)
      : experiment_(experiment), limits_(limits) {}

  Expected<Plan, ExperimentError> all();

 private:
  void add_grid(std::size_t index);
  void add_combination(const Grid& grid, const std::vector<Label>& labels);
  PlannedRun run_of(const Grid& grid, const std::vector<Label>& labels, std::size_t seed_index);
  void find_baselines(std::size_t grid_index, std::size_t from);
  /// About the key of the grid that has the field in its texts.
  void complain(const Grid& grid, const std::string& field, const std::string& message) {
    const auto has_it = [&](const std::string& text) {
      return !field.empty() && text.find(field) != std::string::npos;
    };
    // Every combination would repeat the complaint.
    if (said_.insert(grid.name + field + message).second) {
      errors_.add(place_in(grid, has_it), field, message);
    }
  }

  const Experiment& experiment_;
  const PlanLimits& limits_;
  ErrorList errors_;
  std::set<std::string> said_;
  Plan plan_;
  bool baseline_found_ = false;
};

PlannedRun Layout::run_of(const Grid& grid, const std::vector<Label>& labels,
                          std::size_t seed_index) {
  PlannedRun planned;
  planned.seed = grid.seeds[seed_index];
  Names names{{"seed", std::to_string(planned.seed)}};
  for (const Axis& axis : grid.values) {
    const auto label = std::find_if(labels.begin(), labels.end(),
                                    [&](const Label& l) { return l.axis == axis.name; });
    names[axis.name] = label->value;
  }
  const auto chosen = std::find_if(grid.variants.begin(), grid.variants.end(),
                                   [&](const Variant& v) { return v.name == labels[1].value; });
  if (chosen != grid.variants.end()) {
    for (const auto& [name, value] : chosen->values) names[name] = value;
  }
  std::set<std::string> unknown;
  const auto put = [&](const std::string& key, const std::string& value) {
    planned.overrides.push_back(key + "=" + filled(value, names, unknown));
  };
  // From the weakest to the strongest: replay takes the last word on a key.
  for (const Axis& axis : grid.set) {
    for (const Label& label : labels) {
      if (label.axis == axis.name) put(axis.name, label.value);
    }
  }
  if (chosen != grid.variants.end()) {
    for (const auto& [key, value] : chosen->set) put(key, value);
  }
  for (const Axis& axis : grid.each_seed) put(axis.name, axis.values[seed_index]);
  planned.overrides.insert(planned.overrides.end(), limits_.overrides.begin(),
                           limits_.overrides.end());
  planned.config = filled(labels.front().value, names, unknown);
  planned.policy = filled(labels.back().value, names, unknown);
  std::vector<std::string> known;
  for (const auto& [name, value] : names) known.push_back(name);
  for (const std::string& word : unknown) {
    std::string wrong = unknown_word("name in braces", word, known);
    if (chosen != grid.variants.end()) wrong += " (variant \"" + chosen->name + "\")";
    complain(grid, "{" + word + "}", wrong);
  }
  return planned;
}

void Layout::add_combination(const Grid& grid, const std::vector<Label>& labels) {
  Point point;
  point.grid = static_cast<std::size_t>(&grid - experiment_.grids.data());
  const Axes axes(grid);
  for (std::size_t i = 0; i + 1 < labels.size(); ++i) {
    if (axes.all[i].values.size() == 1) continue;
    point.labels.push_back({labels[i].axis, shown_value(labels[i], grid)});
  }
  bool begun = false;
  for (std::size_t i = 0; i < grid.seeds.size(); ++i) {
    if (limits_.seeds && !limits_.seeds->contains(grid.seeds[i])) continue;
    if (is_skipped(grid, labels, grid.seeds[i])) continue;
    PlannedRun planned = run_of(grid, labels, i);
    planned.point = plan_.points.size();
    point.policy = planned.policy;
    plan_.runs.push_back(std::move(planned));
    begun = true;
  }
  if (!begun) return;
  point.family = labels.back().value;
  plan_.points.push_back(std::move(point));
}

void Layout::find_baselines(std::size_t grid_index, std::size_t from) {
  const std::string& wanted = experiment_.baseline.empty()
                                  ? experiment_.grids[grid_index].policies.front()
                                  : experiment_.baseline;
  for (std::size_t i = from; i < plan_.points.size(); ++i) {
    for (std::size_t k = from; k < plan_.points.size(); ++k) {
      if (plan_.points[k].labels != plan_.points[i].labels) continue;
      if (plan_.points[k].family != wanted && plan_.points[k].policy != wanted) continue;
      plan_.points[i].baseline = k;
      baseline_found_ = true;
    }
  }
}

void Layout::add_grid(std::size_t index) {
  const Grid& grid = experiment_.grids[index];
  const Axes axes(grid);
  const double runs = axes.combinations() * static_cast<double>(grid.seeds.size());
  if (runs + static_cast<double>(plan_.runs.size()) > static_cast<double>(kMostRuns)) {
    complain(grid, "",
             fmt::format("grid '{}' makes {:.0f} runs; an experiment has at most {}", grid.name,
                         runs, kMostRuns));
    return;
  }
  const std::size_t from = plan_.points.size();
  const auto combinations = static_cast<std::size_t>(axes.combinations());
  for (std::size_t i = 0; i < combinations; ++i) add_combination(grid, axes.at(i));
  find_baselines(index, from);
}

Expected<Plan, ExperimentError> Layout::all() {
  for (std::size_t i = 0; i < experiment_.grids.size(); ++i) add_grid(i);
  if (errors_.empty() && plan_.runs.empty()) {
    errors_.add({experiment_.file.string()}, "", "no run is left: all are skipped");
  }
  if (errors_.empty() && !baseline_found_) {
    std::vector<std::string> policies;
    for (const Grid& grid : experiment_.grids) {
      policies.insert(policies.end(), grid.policies.begin(), grid.policies.end());
    }
    errors_.add({experiment_.file.string()}, "baseline",
                unknown_word("policy of the grids", experiment_.baseline, policies));
  }
  if (!errors_.empty()) {
    return Failure<ExperimentError>{ExperimentError::invalid, errors_.text(kShownErrors)};
  }
  return std::move(plan_);
}

}  // namespace

Expected<Plan, ExperimentError> lay_out(const Experiment& experiment, const PlanLimits& limits) {
  return Layout(experiment, limits).all();
}

std::string to_text(const std::vector<Label>& labels) {
  std::string text;
  for (const Label& label : labels) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", label.axis, label.value);
  }
  return text;
}

std::string name_of(const Experiment& experiment, const Plan& plan, const PlannedRun& planned) {
  const Point& point = plan.points[planned.point];
  const std::string labels = to_text(point.labels);
  return fmt::format("{}: {}{}, seed {}", experiment.grids[point.grid].name, point.policy,
                     labels.empty() ? "" : " [" + labels + "]", planned.seed);
}

std::vector<std::string> replay_arguments(const PlannedRun& planned) {
  std::vector<std::string> words = {"replay",   planned.config.string(),
                                    "--policy", planned.policy,
                                    "--seed",   std::to_string(planned.seed)};
  for (const std::string& text : planned.overrides) {
    words.insert(words.end(), {"--set", text});
  }
  // A config's own trials would be further seeds.
  words.insert(words.end(), {"--set", "trials=1", "--threads", "1", "--json", "-"});
  return words;
}

}  // namespace muster::experiment
