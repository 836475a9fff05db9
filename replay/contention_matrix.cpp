#include "replay/contention_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/csv.hpp"

// Reads a square table of pairwise throughputs: row i, column j is the pace of workload i beside
// one of workload j, relative to running alone. Rows stand in the order of the columns, so that a
// row that was moved is an error and not another matrix.

namespace muster::replay {
namespace {

constexpr std::string_view kNameColumn = "workload";
constexpr std::string_view kNotMeasured = "x";
constexpr NumberRange kThroughput{.low = 0, .high = 1, .above_low = true};

std::vector<CsvColumn> columns_of(const std::vector<std::string>& names) {
  std::vector<CsvColumn> columns = {{kNameColumn, true}};
  for (const std::string& name : names) columns.push_back({name, true});
  return columns;
}

/// The header after its first field; rows have to be in the same order.
Expected<std::vector<std::string>, ConfigError> names_of(const CsvTable& table) {
  const std::vector<std::string>& header = table.header.fields;
  if (header.size() >= 2 && header[0] == kNameColumn) {
    return std::vector<std::string>(header.begin() + 1, header.end());
  }
  const TextPlace place{table.file, table.header.line, 0};
  return Failure<ConfigError>{
      ConfigError::invalid,
      fmt::format("{}: header: has to be '{}' and then the names of the workloads", to_text(place),
                  kNameColumn)};
}

}  // namespace

ContentionMatrix::ContentionMatrix(std::vector<std::string> names, std::vector<double> cells,
                                   double default_pair)
    : names_(std::move(names)), cells_(std::move(cells)), default_pair_(default_pair) {
  MUSTER_CHECK(cells_.size() == names_.size() * names_.size(), "a matrix of workloads is square");
}

std::uint32_t ContentionMatrix::index_of(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return static_cast<std::uint32_t>(found - names_.begin());
}

Expected<ContentionMatrix, ConfigError> read_contention_matrix(const std::filesystem::path& file,
                                                               double default_pair) {
  auto table = read_csv(file);
  if (!table) return table.error();
  auto names = names_of(table.value());
  if (!names) return names.error();
  ErrorList errors;
  CsvReader reader(table.value(), columns_of(names.value()), errors);
  std::vector<double> cells;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    if (!reader.select(table->rows[i])) continue;
    const std::string expected = i < names->size() ? names.value()[i] : "";
    if (reader.text(kNameColumn) != expected) {
      reader.complain(kNameColumn,
                      fmt::format("has to be '{}', in the order of the columns; it is '{}'",
                                  expected, reader.text(kNameColumn)));
    }
    for (const std::string& name : names.value()) {
      const bool measured = reader.text(name) != kNotMeasured;
      // Pushed for bad rows as well; the errors below keep such a matrix from being used.
      cells.push_back(measured ? reader.number(name, kThroughput) : default_pair);
    }
  }
  if (table->rows.size() != names->size()) {
    errors.add({table->file}, "",
               fmt::format("has to have a row for each of its {} workloads; rows: {}",
                           names->size(), table->rows.size()));
  }
  if (!errors.empty()) {
    return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
  }
  return ContentionMatrix(std::move(names.value()), std::move(cells), default_pair);
}

}  // namespace muster::replay
