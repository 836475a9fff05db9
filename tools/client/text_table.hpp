#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace muster::client {

/// A table in plain text: columns are as wide as their widest cell, numbers stand to the right.
class TextTable {
 public:
  struct Column {
    std::string head;
    bool number = false;
    std::size_t max_chars = 60;  ///< longer cells are cut off
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell a column.
  void add_row(std::vector<std::string> cells);

  /// Head and rows, a line each; only the head when there are no rows.
  std::string text() const;
  /// The rows since the last call, the first time below the head, and forgets them: for tables that
  /// are written bit by bit. Columns do not get narrower again.
  std::string take();

 private:
  std::vector<std::size_t> widened(std::vector<std::size_t> widths) const;
  std::string lines(const std::vector<std::size_t>& widths, bool head) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;  ///< of what was taken; empty: nothing was
};

}  // namespace muster::client
