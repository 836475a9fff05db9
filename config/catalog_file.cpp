#include "config/catalog_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <map>
#include <system_error>

#include "config/csv.hpp"
#include "config/shipped_file.hpp"
#include "model/closest_word.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr std::array<CsvColumn, 13> kColumns = {{{"name", true},
                                                 {"family", true},
                                                 {"gpu", true},
                                                 {"cpu", true},
                                                 {"memory_gib", true},
                                                 {"usd_per_hour", true},
                                                 {"storage_gib"},
                                                 {"network_gbit_s"},
                                                 {"spot_usd_per_hour"},
                                                 {"acquire_s"},
                                                 {"setup_s"},
                                                 {"terminate_s"},
                                                 {"labels"}}};
constexpr NumberRange kAmount{.low = 0, .high = 1e9};
constexpr NumberRange kPrice{.low = 0, .high = 1e6};
constexpr Duration kLongestDelay = 24h * 7;

InstanceType read_type(CsvReader& row) {
  InstanceType type;
  type.name = row.needed_text("name");
  type.family = row.needed_text("family");
  type.capacity[Resource::gpu] = row.number("gpu", kAmount);
  type.capacity[Resource::cpu] = row.number("cpu", kAmount);
  type.capacity[Resource::memory] = row.number("memory_gib", kAmount);
  type.capacity[Resource::storage] = row.number_or("storage_gib", kAmount, 0);
  type.capacity[Resource::network] = row.number_or("network_gbit_s", kAmount, 0);
  type.on_demand = Price::from_usd_h(row.number("usd_per_hour", kPrice));
  if (row.has("spot_usd_per_hour")) {
    type.spot = Price::from_usd_h(row.number("spot_usd_per_hour", kPrice));
  }
  type.acquire = row.seconds("acquire_s", kLongestDelay);
  type.setup = row.seconds("setup_s", kLongestDelay);
  type.terminate = row.seconds("terminate_s", kLongestDelay);
  LabelFault fault;
  if (auto labels = parse_labels(row.text("labels"), fault)) {
    type.labels = *std::move(labels);
  } else {
    row.complain("labels", fmt::format("character {}: {}", fault.at + 1, fault.message));
  }
  return type;
}

/// Says where a file was looked for, and which names need no file.
Failure<ConfigError> missing(const std::filesystem::path& file, Failure<ConfigError> why) {
  const std::vector<std::string> shipped = shipped_catalogs();
  std::error_code none;
  why.message += fmt::format("; it was looked for in {}",
                             std::filesystem::absolute(file, none).parent_path().string());
  if (shipped.empty()) return why;
  why.message += fmt::format("; catalogs that come with Muster are named alone: {}{}",
                             meant_word(file.stem().string(), shipped), fmt::join(shipped, ", "));
  return why;
}

}  // namespace

Expected<Catalog, ConfigError> load_catalog(const std::filesystem::path& file) {
  auto table = read_csv(catalog_path(file));
  std::error_code none;
  if (!table && !std::filesystem::exists(file, none)) return missing(file, table.error());
  if (!table) return table.error();
  ErrorList errors;
  CsvReader reader(table.value(), kColumns, errors);
  std::vector<InstanceType> types;
  std::map<std::string, std::uint32_t> lines;
  for (const CsvRow& row : table->rows) {
    if (!reader.select(row)) continue;
    InstanceType type = read_type(reader);
    // The first line of a name is kept, so that the error leads to both.
    const auto [first, is_new] = lines.emplace(type.name, row.line);
    if (!is_new && !type.name.empty()) {
      reader.complain("name", fmt::format("'{}' is already the name of the type in line {}",
                                          type.name, first->second));
    }
    types.push_back(std::move(type));
  }
  // An empty table has no line to speak of.
  if (types.empty() && errors.empty()) {
    errors.add({table->file}, "", "has to have at least one instance type");
  }
  if (!errors.empty()) {
    return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
  }
  return Catalog(std::move(types));
}

Catalog with_delays_of(const CloudConfig& cloud, const Catalog& catalog) {
  std::vector<InstanceType> types = catalog.types();
  for (InstanceType& type : types) type.terminate += cloud.reclaim;
  return Catalog(std::move(types)).with_delays(cloud.delay_scale);
}

}  // namespace muster
