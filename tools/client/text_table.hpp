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

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace muster::client
