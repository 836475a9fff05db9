#include "tools/client/text_table.hpp"

#include <algorithm>
#include <utility>

#include "model/check.hpp"
#include "tools/client/printable.hpp"

namespace muster::client {

void TextTable::add_row(std::vector<std::string> cells) {
  MUSTER_CHECK(cells.size() == columns_.size(), "a row has one cell a column");
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = cut(cells[i], columns_[i].max_chars);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  return lines(widened({}), true);
}

std::string TextTable::take() {
  const bool first = widths_.empty();
  widths_ = widened(std::move(widths_));
  std::string out = lines(widths_, first);
  rows_.clear();
  return out;
}

/// Widths at which everything fits; none: those of the head to begin with.
std::vector<std::size_t> TextTable::widened(std::vector<std::size_t> widths) const {
  if (widths.empty()) {
    for (const Column& column : columns_) widths.push_back(width_of(column.head));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::string TextTable::lines(const std::vector<std::size_t>& widths, bool head) const {
  std::string out;
  const auto add_cell = [&](std::size_t i, const std::string& cell) {
    const std::string space(widths[i] - width_of(cell), ' ');
    if (i > 0) out += "  ";
    out += columns_[i].number ? space + cell : cell + space;
  };
  const auto end_line = [&] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (std::size_t i = 0; head && i < columns_.size(); ++i) add_cell(i, columns_[i].head);
  if (head) end_line();
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) add_cell(i, row[i]);
    end_line();
  }
  return out;
}

}  // namespace muster::client
