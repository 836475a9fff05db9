#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/places.hpp"

// Reads what tests/data/lrasched holds.

namespace muster::test {

inline std::ifstream lrasched_file(const std::string& name) {
  std::ifstream file(source_dir() / "tests/data/lrasched" / name);
  file.exceptions(std::ios::badbit);
  return file;
}

inline nlohmann::json lrasched_json(const std::string& name) {
  std::ifstream file = lrasched_file(name);
  return nlohmann::json::parse(file);
}

/// A service of family.csv.
struct FamilyRow {
  std::string kind;
  std::vector<double> numbers;  ///< load, exponent, working set ... locality
  std::vector<double> sizes;    ///< performance by configuration
  std::vector<double> degrees;  ///< and by degree, of 4 cores and 4 GiB
};

inline std::vector<FamilyRow> family_rows() {
  constexpr std::size_t kNumbers = 7, kSizes = 30;
  std::ifstream file = lrasched_file("family.csv");
  std::string line;
  std::getline(file, line);
  std::vector<FamilyRow> rows;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string cell;
    FamilyRow& row = rows.emplace_back();
    std::getline(cells, cell, ',');
    std::getline(cells, row.kind, ',');
    for (std::size_t i = 0; std::getline(cells, cell, ','); ++i) {
      auto& into = i < kNumbers ? row.numbers : i < kNumbers + kSizes ? row.sizes : row.degrees;
      into.push_back(std::stod(cell));
    }
  }
  return rows;
}

}  // namespace muster::test
