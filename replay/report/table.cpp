#include "replay/report/table.hpp"

#include <algorithm>
#include <utility>

// The summary as plain text. Columns that do not fit beside each other go on in further blocks,
// each with the names of the policies. Long names would leave a narrow page little room for
// figures: there each has a line of its own above its figures.

namespace muster::report {
namespace {

/// Between two columns.
constexpr std::size_t kGap = 2;
/// Names that take more than this part of the page stand above their figures.
constexpr std::size_t kNameShare = 3;

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

/// The lines of a block, of which the first two are the head, each under its name where names stand
/// above.
std::string block_of(const std::vector<std::string>& lines, const std::vector<std::string>& names,
                     bool above) {
  if (!above) return text_of(lines);
  std::vector<std::string> all(lines.begin(), lines.begin() + 2);
  for (std::size_t k = 2; k < lines.size(); ++k) {
    all.push_back(names[k]);
    all.push_back(lines[k]);
  }
  return text_of(all);
}

}  // namespace

std::string summary_table(std::span<const metrics::RunResult> runs, std::size_t max_width) {
  return table_text(summarize(runs), max_width);
}

std::string table_text(const Summary& summary, std::size_t max_width) {
  std::vector<std::string> names = column_of(summary, 0);
  align(names, true);
  std::vector<std::vector<std::string>> columns;
  std::size_t width = width_of(names[0]);
  for (std::size_t i = 1; i < summary.columns.size(); ++i) {
    if (!says_something(summary, i)) continue;
    std::vector<std::string> cells = column_of(summary, i);
    align(cells, false);
    width += kGap + width_of(cells[0]);
    columns.push_back(std::move(cells));
  }
  const bool above = width > max_width && width_of(names[0]) * kNameShare > max_width;
  const std::vector<std::string> margin = above ? std::vector<std::string>(names.size()) : names;
  std::vector<std::string> lines = margin;
  std::string text;
  for (const std::vector<std::string>& cells : columns) {
    const bool full = width_of(lines[0]) + kGap + width_of(cells[0]) > max_width;
    // A column that is wider than the page by itself still gets a block of its own.
    if (full && width_of(lines[0]) > width_of(margin[0])) {
      text += block_of(lines, names, above) + '\n';
      lines = margin;
    }
    for (std::size_t k = 0; k < lines.size(); ++k) lines[k] += std::string(kGap, ' ') + cells[k];
  }
  return text + block_of(lines, names, above);
}

}  // namespace muster::report
