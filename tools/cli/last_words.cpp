#include "tools/cli/last_words.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "tools/client/printable.hpp"

// Reads only what the logs have got since the start: complaints of earlier starts are in them, too.

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

/// How long a log is, so that what is written there from now on can be told from what was before.
std::uintmax_t length_of(const fs::path& log) {
  std::error_code none;
  const std::uintmax_t length = fs::file_size(log, none);
  return none ? 0 : length;
}

/// The lines with the mark after the first `from` bytes of a log, from the mark on.
std::vector<std::string> lines_with(const fs::path& log, std::uintmax_t from,
                                    const std::string& mark) {
  std::ifstream in(log);
  // A log that was begun anew is shorter.
  // From the beginning then: all that it has is new.
  if (from <= length_of(log)) in.seekg(static_cast<std::streamoff>(from));
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) {
    const std::size_t place = line.find(mark);
    if (place != std::string::npos) found.push_back(line.substr(place));
  }
  return found;
}

/// The last such line; empty without one.
std::string last_line(const fs::path& log, std::uintmax_t from, const std::string& mark) {
  const std::vector<std::string> found = lines_with(log, from, mark);
  return found.empty() ? "" : found.back();
}

}  // namespace

LastWords::LastWords(const fs::path& dir, const ClusterConfig& config)
    : keeper_{dir / "keeper.log", length_of(dir / "keeper.log")} {
  for (const NodeConfig& node : config.nodes) {
    const fs::path log = config.state / node.name / "node.log";
    nodes_[node.name] = {log, length_of(log)};
  }
}

std::string LastWords::of(const std::string& node) const {
  const std::string own = last_line(keeper_.file, keeper_.from,
                                    node.empty() ? "muster: node " : "muster: node " + node + ":");
  if (!own.empty()) return own;
  std::string said;
  for (const auto& [name, log] : nodes_) {
    if (name == node) continue;
    for (const std::string& mark : {"turns " + node + " away:", "no link with " + node + ":"}) {
      if (said.empty()) said = last_line(log.file, log.from, mark);
      if (!said.empty()) return "node " + name + " " + said;
    }
  }
  return "none";
}

std::string LastWords::ends(const std::string& node) const {
  std::string text = end_of(keeper_);
  for (const auto& [name, log] : nodes_) {
    // Where the missing node is not known, it is one that has ended.
    const bool is_meant =
        node.empty() ? !lines_with(keeper_.file, keeper_.from, "node " + name + " ended (").empty()
                     : name == node;
    if (is_meant) text += end_of(log);
  }
  return text;
}

std::string LastWords::node_that_gives_up() const {
  for (const auto& [name, log] : nodes_) {
    const std::string mark = "node " + name + " ended (";
    if (lines_with(keeper_.file, keeper_.from, mark).size() >= kVainStarts) return name;
  }
  return {};
}

/// Its last lines that are new, below its path; empty when there are no new lines.
std::string LastWords::end_of(const Log& log) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> lines = lines_with(log.file, log.from, "");
  if (lines.empty()) return {};
  std::string text = "\n" + log.file.string() + ":";
  for (std::size_t i = lines.size() - std::min(lines.size(), kShown); i < lines.size(); ++i) {
    text += "\n  " + client::printable(lines[i]);
  }
  return text;
}

}  // namespace muster::cli
