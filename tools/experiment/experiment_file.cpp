#include "tools/experiment/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "config/key_reader.hpp"
#include "config/key_values.hpp"
#include "config/numbers.hpp"
#include "replay/metrics/metric_table.hpp"
#include "tools/experiment/seed_list.hpp"

// Experiments as TOML. Their keys name keys of other configs, which are checked when the runs are
// laid out; here the form is checked, and that what is named is there.

namespace muster::experiment {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kHeadKeys = {"name", "about", "baseline", "metrics"};
const std::vector<std::string> kGridKeys = {"name",   "config",    "policy",  "seeds", "set",
                                            "values", "each_seed", "variant", "skip"};
const std::vector<std::string> kVariantKeys = {"name", "set", "values"};

/// The value of an override: texts without quotes, all else as TOML writes it.
std::string override_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  // TOML would write 0.1 with seventeen digits, and labels of axes are read by people.
  if (const auto* number = node.as_floating_point()) return number_text(number->get());
  return config::written(node);
}

/// Reads tables of the file and collects what is wrong with them.
class FileReader {
 public:
  FileReader(fs::path file, ErrorList& errors) : file_(std::move(file)), errors_(errors) {}

  Experiment read(const toml::table& table);

 private:
  void read_head(const toml::table& head);
  void read_grid(const toml::table& table);
  void read_configs(const toml::node& node, Grid& grid);
  void read_seeds(const toml::node& node, Grid& grid);
  void read_variants(const toml::node& node, Grid& grid);
  void read_skips(const toml::node& node, Grid& grid);
  void check_grid(Grid& grid);
  void check_variants(const Grid& grid, const std::set<std::string>& axes);
  void check_metrics(const toml::node& node);

  std::vector<std::string> texts(const toml::node& node, const std::string& field);
  std::string text(const toml::node& node, const std::string& field);
  /// Keys with a value or a list of values, dotted keys as sections or quoted.
  std::vector<Axis> axes(const toml::node& node, const std::string& field);
  /// Says so where an axis has a value twice.
  void check_different(const std::vector<Axis>& axes);
  void add_axes(const toml::table& table, const std::string& prefix, std::vector<Axis>& axes);
  /// Each table of an array of tables, or the one table.
  void each_table(const toml::node& node, const std::string& field,
                  const std::function<void(const toml::table&)>& read);
  void unknown(const toml::key& key, const std::string& where,
               const std::vector<std::string>& known);
  void wrong(const toml::node& node, const std::string& field, const std::string& wanted);
  TextPlace place(const toml::source_region& at) const {
    return {file_.string(), at.begin.line, at.begin.column};
  }

  fs::path file_;
  ErrorList& errors_;
  Experiment experiment_;
};

void FileReader::wrong(const toml::node& node, const std::string& field,
                       const std::string& wanted) {
  errors_.add(place(node.source()), field,
              fmt::format("has to be {}; it is {}", wanted, config::written(node)));
}

void FileReader::unknown(const toml::key& key, const std::string& where,
                         const std::vector<std::string>& known) {
  const std::string name(key.str());
  errors_.add(place(key.source()), name, unknown_word("key of " + where, name, known));
}

std::string FileReader::text(const toml::node& node, const std::string& field) {
  const auto* value = node.as_string();
  if (value != nullptr && !value->get().empty()) return value->get();
  wrong(node, field, "a text that is not empty");
  return {};
}

std::vector<std::string> FileReader::texts(const toml::node& node, const std::string& field) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return {text(node, field)};
  std::vector<std::string> all;
  for (const toml::node& element : *array) {
    std::string value = text(element, field);
    if (std::find(all.begin(), all.end(), value) != all.end()) {
      errors_.add(place(element.source()), field, fmt::format("names \"{}\" twice", value));
    }
    all.push_back(std::move(value));
  }
  if (all.empty()) wrong(node, field, "a text or a list of at least one");
  return all;
}

void FileReader::add_axes(const toml::table& table, const std::string& prefix,
                          std::vector<Axis>& axes) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    // A dotted key that is not quoted comes as tables in tables.
    if (const toml::table* inner = node.as_table()) {
      add_axes(*inner, name + ".", axes);
      continue;
    }
    Axis axis{name, {}, place(key.source())};
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) axis.values.push_back(override_text(element));
      if (axis.values.empty()) wrong(node, name, "a value or a list of at least one");
    } else {
      axis.values.push_back(override_text(node));
    }
    axes.push_back(std::move(axis));
  }
}

std::vector<Axis> FileReader::axes(const toml::node& node, const std::string& field) {
  std::vector<Axis> all;
  if (const toml::table* table = node.as_table()) {
    add_axes(*table, "", all);
  } else {
    wrong(node, field, fmt::format("a section, written [grid.{}]", field));
  }
  return all;
}

void FileReader::check_different(const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) {
    const std::set<std::string> different(axis.values.begin(), axis.values.end());
    if (different.size() == axis.values.size()) continue;
    errors_.add(axis.place, axis.name, "has to be a list of different values");
  }
}

void FileReader::each_table(const toml::node& node, const std::string& field,
                            const std::function<void(const toml::table&)>& read) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return wrong(node, field, "a list of tables, each written " + field);
  for (const toml::node& element : *array) {
    const toml::table* table = element.as_table();
    if (table != nullptr) {
      read(*table);
    } else {
      wrong(element, field, "a table, written " + field);
    }
  }
}

void FileReader::read_configs(const toml::node& node, Grid& grid) {
  for (const std::string& path : texts(node, "config")) {
    grid.configs.push_back((file_.parent_path() / path).lexically_normal());
  }
}

void FileReader::read_seeds(const toml::node& node, Grid& grid) {
  std::string list;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& element : *array) {
      if (!element.is_integer()) return wrong(node, "seeds", kSeedsWanted);
      list += (list.empty() ? "" : ",") + config::written(element);
    }
  } else {
    list = override_text(node);
  }
  const auto seeds = parse_seeds(list);
  if (!seeds) return wrong(node, "seeds", kSeedsWanted);
  grid.seeds = *seeds;
}

void FileReader::read_variants(const toml::node& node, Grid& grid) {
  const auto read_single = [&](const toml::node& value, const std::string& field, auto& into) {
    for (Axis& axis : axes(value, field)) {
      if (axis.values.size() != 1) {
        errors_.add(axis.place, field + "." + axis.name,
                    "has to be a single value; more than one are variants of their own");
      } else {
        into.emplace_back(axis.name, axis.values.front());
      }
    }
  };
  each_table(node, "[[grid.variant]]", [&](const toml::table& table) {
    Variant variant;
    variant.place = place(table.source());
    for (const auto& [key, value] : table) {
      if (key.str() == "name") {
        variant.name = text(value, "name");
      } else if (key.str() == "set") {
        read_single(value, "variant.set", variant.set);
      } else if (key.str() == "values") {
        read_single(value, "variant.values", variant.values);
      } else {
        unknown(key, "[[grid.variant]]", kVariantKeys);
      }
    }
    if (variant.name.empty()) {
      errors_.add(place(table.source()), "variant.name", "is missing; it has to be a text");
    }
    grid.variants.push_back(std::move(variant));
  });
}

void FileReader::read_skips(const toml::node& node, Grid& grid) {
  each_table(node, "[[grid.skip]]", [&](const toml::table& table) {
    Skip skip;
    add_axes(table, "", skip.where);
    if (skip.where.empty()) wrong(table, "skip", "a table of axes and values that are left out");
    grid.skips.push_back(std::move(skip));
  });
}

/// Checks that depend on more than one key of the grid.
void FileReader::check_grid(Grid& grid) {
  const auto missing = [&](const char* key, const char* wanted) {
    errors_.add(grid.place, key, fmt::format("is missing; it has to be {}", wanted));
  };
  if (grid.configs.empty()) missing("config", "a replay config, or a list of some");
  if (grid.policies.empty()) missing("policy", "a policy, or a list of some");
  if (grid.seeds.empty()) grid.seeds = {1};
  for (const Axis& axis : grid.each_seed) {
    if (axis.values.size() == grid.seeds.size()) continue;
    errors_.add(axis.place, "each_seed." + axis.name,
                fmt::format("has to have a value for each of the {} seeds; it has {}",
                            grid.seeds.size(), axis.values.size()));
  }
  const auto refuse = [&](const Axis& axis) {
    if (!is_of_the_grid(axis.name)) return;
    errors_.add(axis.place, "set." + axis.name,
                "cannot be set: seeds and policies of a grid stand in `seeds` and `policy`");
  };
  for (const Axis& axis : grid.set) refuse(axis);
  for (const Axis& axis : grid.each_seed) refuse(axis);
  std::vector<std::string> known = {"config", "variant", "policy", "seed"};
  std::set<std::string> names(known.begin(), known.end());
  for (const auto* axes : {&grid.set, &grid.values}) {
    for (const Axis& axis : *axes) {
      known.push_back(axis.name);
      if (names.insert(axis.name).second) continue;
      errors_.add(axis.place, axis.name, "is the name of two axes");
    }
  }
  check_variants(grid, names);
  for (const Skip& skip : grid.skips) {
    for (const Axis& axis : skip.where) {
      if (names.contains(axis.name)) continue;
      errors_.add(axis.place, "skip." + axis.name, unknown_word("axis", axis.name, known));
    }
  }
}

/// Variants have names of their own, and what their values are called stands in braces somewhere.
void FileReader::check_variants(const Grid& grid, const std::set<std::string>& axes) {
  std::string texts = fmt::format("{}", fmt::join(grid.policies, "\n"));
  for (const auto& config : grid.configs) texts += '\n' + config.string();
  for (const auto* some : {&grid.set, &grid.each_seed}) {
    for (const Axis& axis : *some) texts += fmt::format("\n{}", fmt::join(axis.values, "\n"));
  }
  for (const Variant& variant : grid.variants) {
    for (const auto& [key, value] : variant.set) texts += '\n' + value;
  }
  std::set<std::string> names;
  for (const Variant& variant : grid.variants) {
    if (!variant.name.empty() && !names.insert(variant.name).second) {
      errors_.add(variant.place, "variant.name",
                  fmt::format("is \"{}\", which is that of another variant of the grid; each has "
                              "to have one of its own",
                              variant.name));
    }
    for (const auto& [name, value] : variant.values) {
      const std::string field = "variant.values." + name;
      if (axes.contains(name)) {
        errors_.add(variant.place, field,
                    "is the name of an axis, too; one of the two has to have another name");
      } else if (texts.find('{' + name + '}') == std::string::npos) {
        errors_.add(variant.place, field,
                    fmt::format("has to stand in braces, {{{}}}, in a policy, a config or an "
                                "override of the grid, and it does not",
                                name));
      }
    }
  }
}

void FileReader::read_grid(const toml::table& table) {
  Grid grid;
  grid.place = place(table.source());
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (name == "name") {
      grid.name = text(node, name);
    } else if (name == "config") {
      grid.configs_place = place(key.source());
      read_configs(node, grid);
    } else if (name == "policy") {
      grid.policies_place = place(key.source());
      grid.policies = texts(node, name);
    } else if (name == "seeds") {
      read_seeds(node, grid);
    } else if (name == "set") {
      grid.set = axes(node, name);
      check_different(grid.set);
    } else if (name == "values") {
      grid.values = axes(node, name);
      check_different(grid.values);
    } else if (name == "each_seed") {
      grid.each_seed = axes(node, name);
    } else if (name == "variant") {
      read_variants(node, grid);
    } else if (name == "skip") {
      read_skips(node, grid);
    } else {
      unknown(key, "[[grid]]", kGridKeys);
    }
  }
  if (grid.name.empty()) grid.name = fmt::format("grid {}", experiment_.grids.size() + 1);
  check_grid(grid);
  for (const Grid& other : experiment_.grids) {
    if (other.name == grid.name) errors_.add(grid.place, "name", "is that of another grid");
  }
  experiment_.grids.push_back(std::move(grid));
}

void FileReader::check_metrics(const toml::node& node) {
  std::vector<std::string> known;
  for (const metrics::Metric& metric : metrics::metric_table()) {
    // Ratios are made here anew, by seed: those of a run alone are all 1.
    if (metric.relative_to.empty()) known.push_back(metric.key);
  }
  for (const std::string& key : experiment_.metrics) {
    // Figures of the policy's own notes are known when it has run.
    if (key.starts_with("round_figures.")) continue;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    errors_.add(place(node.source()), "metrics", unknown_word("metric", key, known));
  }
}

void FileReader::read_head(const toml::table& head) {
  for (const auto& [key, node] : head) {
    const std::string name(key.str());
    if (name == "name") {
      experiment_.name = text(node, name);
    } else if (name == "about") {
      experiment_.about = text(node, name);
    } else if (name == "baseline") {
      experiment_.baseline = text(node, name);
    } else if (name == "metrics") {
      experiment_.metrics = texts(node, name);
      check_metrics(node);
    } else {
      unknown(key, "[experiment]", kHeadKeys);
    }
  }
}

Experiment FileReader::read(const toml::table& table) {
  experiment_.file = file_;
  experiment_.name = file_.stem().string();
  experiment_.metrics = {"total_cost_usd", "mean_jct_h"};
  for (const auto& [key, node] : table) {
    if (key.str() == "grid") {
      each_table(node, "[[grid]]", [&](const toml::table& grid) { read_grid(grid); });
    } else if (key.str() != "experiment") {
      unknown(key, "an experiment", {"experiment", "grid"});
    } else if (const toml::table* head = node.as_table()) {
      read_head(*head);
    } else {
      wrong(node, "experiment", "a section, written [experiment]");
    }
  }
  // The name is that of a folder and of files.
  if (experiment_.name.find('/') != std::string::npos || experiment_.name.starts_with('.')) {
    errors_.add({file_.string()}, "name", "has to be no path and not begin with a dot");
  }
  if (!table.contains("grid")) {
    errors_.add({file_.string()}, "grid", "is missing; an experiment has at least one [[grid]]");
  }
  return std::move(experiment_);
}

}  // namespace

Expected<Experiment, ExperimentError> load_experiment(const fs::path& file) {
  const auto table = config::read_toml(file);
  if (!table) {
    const bool unreadable = table.error().code == config::TomlError::unreadable;
    return Failure<ExperimentError>{
        unreadable ? ExperimentError::unreadable : ExperimentError::invalid, table.error().message};
  }
  ErrorList errors;
  Experiment experiment = FileReader(file, errors).read(table.value());
  if (errors.empty()) return experiment;
  errors.sort_by_line();
  return Failure<ExperimentError>{ExperimentError::invalid, errors.text()};
}

TextPlace place_in(const Grid& grid, const std::function<bool(const std::string&)>& is_meant) {
  const auto axes = {&grid.set, &grid.each_seed, &grid.values};
  for (const auto* some : axes) {
    for (const Axis& axis : *some) {
      if (is_meant(axis.name)) return axis.place;
    }
  }
  const auto any_of = [&](const auto& texts) { return std::ranges::any_of(texts, is_meant); };
  if (any_of(grid.policies)) return grid.policies_place;
  for (const fs::path& config : grid.configs) {
    if (is_meant(config.string())) return grid.configs_place;
  }
  for (const auto* some : axes) {
    for (const Axis& axis : *some) {
      if (any_of(axis.values)) return axis.place;
    }
  }
  return grid.place;
}

}  // namespace muster::experiment
