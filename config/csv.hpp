#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "config/error_list.hpp"
#include "config/numbers.hpp"
#include "config/time_text.hpp"
#include "model/expected.hpp"
#include "model/time.hpp"

namespace muster {

/// A row of a CSV file, with the line on which it begins.
struct CsvRow {
  std::uint32_t line = 0;
  std::vector<std::string> fields;
};

/// A CSV file (RFC 4180) whose first row names the columns.
struct CsvTable {
  std::string file;
  CsvRow header;
  std::vector<CsvRow> rows;
};

/// Reads a CSV file row by row, so that it takes no more memory than a row does. Blank lines are
/// skipped, fields may be quoted, spaces around unquoted ones are dropped. Errors: unreadable;
/// malformed (damaged, stray quotes, no header), with line and column where there are any.
class CsvStream {
 public:
  /// Reads the header. The file may be packed by gzip; "-" is the standard input. Columns in
  /// `headless` are those of a format that is also published without a header: where the first row
  /// does not have these names but as many fields, it is a row.
  static Expected<CsvStream, ConfigError> open(const std::filesystem::path& file,
                                               std::span<const std::string_view> headless = {});
  ~CsvStream();
  CsvStream(CsvStream&&) noexcept;
  CsvStream& operator=(CsvStream&&) noexcept;

  const std::string& file() const;
  const CsvRow& header() const;
  /// The next row, which stays until the next call; null after the last one.
  Expected<const CsvRow*, ConfigError> next();

 private:
  struct Source;
  explicit CsvStream(std::unique_ptr<Source> source);
  std::unique_ptr<Source> source_;
};

/// All rows of a file, as CsvStream gives them.
Expected<CsvTable, ConfigError> read_csv(const std::filesystem::path& file);

/// `text` as a field of a CSV file, quoted where that is needed to read the same text again.
std::string csv_field(std::string_view text);

/// How a column states points in time.
struct MomentRange {
  Duration unit = std::chrono::seconds{1};  ///< of bare numbers
  bool before_zero = false;                 ///< these are points in time, too
};

/// A column that a reader understands.
struct CsvColumn {
  std::string_view name;
  bool required = false;
};

/// The rows of a table with their fields by name. Errors go to the error list.
class CsvReader {
 public:
  /// Checks the header: unknown, repeated and missing columns are errors.
  CsvReader(const CsvTable& table, std::span<const CsvColumn> known, ErrorList& errors);
  CsvReader(const CsvStream& stream, std::span<const CsvColumn> known, ErrorList& errors);

  /// Turns to a row; later calls are about it. False, with an error, when it has too few or too
  /// many fields.
  bool select(const CsvRow& row);

  /// Where the row begins.
  std::uint32_t line() const { return row_->line; }
  /// The row has something in the column.
  bool has(std::string_view column) const { return !text(column).empty(); }
  /// The field; empty when the file has no such column.
  const std::string& text(std::string_view column) const;
  /// The field, which must not be empty.
  const std::string& needed_text(std::string_view column);
  /// The field as a number in the range; `low` after an error.
  double number(std::string_view column, const NumberRange& range);
  double number_or(std::string_view column, const NumberRange& range, double fallback);
  /// The field as a number of seconds from 0 to `limit`; absent: 0.
  Duration seconds(std::string_view column, Duration limit);
  /// The field as a point in time, which must not be empty, by parse_moment(); 0 after an error.
  /// Before 0 only where the format's clock may begin before it.
  Moment moment(std::string_view column, const MomentRange& range = {});
  /// Adds an error about a field of the row.
  void complain(std::string_view column, std::string_view message);

 private:
  CsvReader(const std::string& file, const CsvRow& header, std::span<const CsvColumn> known,
            ErrorList& errors);

  std::string file_;
  std::size_t width_;  ///< fields of a row
  ErrorList& errors_;
  std::map<std::string, std::size_t, std::less<>> positions_;
  const CsvRow* row_ = nullptr;
};

}  // namespace muster
