#include "tools/report/table.hpp"

#include <algorithm>

// The summary as plain text. Columns that do not fit beside each other go on in further blocks,
// each with the names of the policies.

namespace muster::report {
namespace {

/// Characters on the screen: bytes that do not continue an UTF-8 character.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// A column with its head as the first two cells.
std::vector<std::string> column_of(const Summary& summary, std::size_t index) {
  std::vector<std::string> cells{summary.columns[index].name, summary.columns[index].unit};
  for (const auto& row : summary.rows) cells.push_back(row[index]);
  return cells;
}

bool says_nothing(const std::vector<std::string>& cells) {
  return cells.size() > 2 && std::all_of(cells.begin() + 2, cells.end(),
                                         [](const std::string& cell) { return cell == "-"; });
}

/// The cells of a column, all of the same width; the first column is flush left.
void align(std::vector<std::string>& cells, bool left) {
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, width_of(cell));
  for (std::string& cell : cells) {
    cell.insert(left ? cell.size() : 0, width - width_of(cell), ' ');
  }
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    // Padding at the end would differ with the widest line and make texts hard to compare.
    const std::size_t end = line.find_last_not_of(' ');
    text.append(line, 0, end == std::string::npos ? 0 : end + 1).push_back('\n');
  }
  return text;
}

}  // namespace

std::string summary_table(std::span<const metrics::RunResult> runs, std::size_t max_width) {
  return table_text(summarize(runs), max_width);
}

std::string table_text(const Summary& summary, std::size_t max_width) {
  std::vector<std::string> policies = column_of(summary, 0);
  align(policies, true);
  std::vector<std::string> lines = policies;
  std::string text;
  for (std::size_t i = 1; i < summary.columns.size(); ++i) {
    std::vector<std::string> cells = column_of(summary, i);
    if (says_nothing(cells)) continue;
    align(cells, false);
    const bool full = width_of(lines[0]) + 2 + width_of(cells[0]) > max_width;
    // A column that is wider than the page by itself still gets a block of its own.
    if (full && width_of(lines[0]) > width_of(policies[0])) {
      text += text_of(lines) + '\n';
      lines = policies;
    }
    for (std::size_t k = 0; k < lines.size(); ++k) lines[k] += "  " + cells[k];
  }
  return text + text_of(lines);
}

}  // namespace muster::report
