#pragma once

#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::test {

inline const std::string kTop =
    "name = \"local\"\nstate = \"state\"\npki = \"pki\"\ncatalog = \"types.csv\"\n";
inline const std::string kSite =
    "[[node]]\nname = \"n0\"\naddress = \"10.0.0.1:7800\"\nsite = \"tokyo\"\n";
inline const std::string kMaster =
    "[[node]]\nname = \"n1\"\naddress = \"10.0.0.1:7801\"\nmaster = \"m0\"\n"
    "workers = \"10.0.0.1:7901\"\n";
inline const std::string kCloud =
    "[[node]]\nname = \"n2\"\naddress = \"10.0.0.1:7802\"\ncloud = true\n";

/// The parts of a cluster file "local.toml", each of which a test may exchange. The first node
/// begins in line 5 and the first section in line 18. It has no caps: what loads it says besides
/// that it needs none.
struct ClusterFile {
  std::string top = kTop;
  std::string nodes = kSite + kMaster + kCloud;
  std::string sections = {};

  std::string text() const { return top + nodes + sections; }
};

inline std::vector<std::string> with_no_caps(std::vector<std::string> overrides = {}) {
  overrides.emplace_back("master.caps=none");
  return overrides;
}

inline Expected<ClusterConfig, ConfigError> load(const ClusterFile& parts,
                                                 const std::vector<std::string>& overrides = {}) {
  const TempFile file("local.toml", parts.text());
  return load_cluster_config(file.path(), with_no_caps(overrides));
}

/// The errors of exactly these parts, without the folder of the file; "no error" when there is
/// none.
inline std::vector<std::string> exact_errors_of(const ClusterFile& parts,
                                                const std::vector<std::string>& overrides = {}) {
  const TempFile file("local.toml", parts.text());
  const auto result = load_cluster_config(file.path(), overrides);
  if (result) return {"no error"};
  const std::string folder = file.folder().string() + "/";
  std::vector<std::string> lines;
  std::istringstream in(result.error().message);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line.starts_with(folder) ? line.substr(folder.size()) : line);
  }
  return lines;
}

inline std::vector<std::string> errors_of(const ClusterFile& parts,
                                          const std::vector<std::string>& overrides = {}) {
  return exact_errors_of(parts, with_no_caps(overrides));
}

inline std::vector<std::string> errors_of_nodes(std::initializer_list<std::string> nodes) {
  ClusterFile parts{.nodes = ""};
  for (const std::string& node : nodes) parts.nodes += node;
  return errors_of(parts);
}

/// `text` with the first `from` made `to`.
inline std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace muster::test
