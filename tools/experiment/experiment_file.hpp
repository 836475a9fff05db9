#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/error_list.hpp"
#include "model/expected.hpp"

namespace muster::experiment {

/// A name with the values that it takes, one after the other. The texts are as --set takes them.
struct Axis {
  std::string name;
  std::vector<std::string> values;
  TextPlace place{};  ///< of its key in the file
};

/// Keys of the config that an override may not set, since a grid has seeds and policies of its own.
inline bool is_of_the_grid(std::string_view key) {
  return key == "seed" || key == "trials" || key == "policies";
}

/// One of several worlds that are told apart by more than one key.
struct Variant {
  std::string name;
  TextPlace place;
  std::vector<std::pair<std::string, std::string>> set;     ///< key and value
  std::vector<std::pair<std::string, std::string>> values;  ///< the value of {name} there
};

/// Combinations that are left out: those with one of the values on each of the axes.
struct Skip {
  std::vector<Axis> where;
};

/// All combinations of configs, variants, values, policies and seeds.
struct Grid {
  std::string name;
  TextPlace place;           ///< of its first line
  TextPlace configs_place;   ///< of `config`
  TextPlace policies_place;  ///< of `policy`
  std::vector<std::filesystem::path> configs;
  std::vector<std::string> policies;
  std::vector<std::uint64_t> seeds;
  std::vector<Axis> set;        ///< keys of the config; more than one value makes an axis
  std::vector<Axis> values;     ///< the values of {name} in policies, configs and set
  std::vector<Axis> each_seed;  ///< keys of the config with one value a seed
  std::vector<Variant> variants;
  std::vector<Skip> skips;
};

/// An experiment of `muster experiment`: grids of replays and the figures to compare.
struct Experiment {
  std::filesystem::path file;
  std::string name;  ///< file name without extension, unless said
  std::string about;
  std::string baseline;  ///< policy that the others are compared with; empty: the first of a grid
  std::vector<std::string> metrics;  ///< that the table shows, by their keys
  std::vector<Grid> grids;
};

enum class ExperimentError : std::uint8_t { unreadable, invalid };

/// Reads and checks an experiment. All errors are reported at once, one a line, each with
/// file:line:column, the field, and what would be right. Paths are relative to the file.
Expected<Experiment, ExperimentError> load_experiment(const std::filesystem::path& file);

/// The place of the grid's first key whose name `is_meant`; else of the first with such a policy,
/// config or value; else of the grid.
TextPlace place_in(const Grid& grid, const std::function<bool(const std::string&)>& is_meant);

}  // namespace muster::experiment
