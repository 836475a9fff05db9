#include "config/csv.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "config/text_file.hpp"

namespace muster {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
const std::string kNoText;

/// Collects what libcsv calls back with.
struct Collector {
  CsvTable table;
  CsvRow row;
  std::uint32_t line = 0;  ///< the one that is being parsed

  static void on_field(void* bytes, std::size_t size, void* self) {
    Collector& to = *static_cast<Collector*>(self);
    to.row.fields.emplace_back(static_cast<const char*>(bytes), size);
  }

  static void on_row(int /*terminator*/, void* self) {
    Collector& to = *static_cast<Collector*>(self);
    CsvRow& target =
        to.table.header.fields.empty() ? to.table.header : to.table.rows.emplace_back();
    target = std::exchange(to.row, CsvRow{});
  }
};

/// Owns a parser's buffer.
struct Parser {
  csv_parser state{};

  Parser() {
    constexpr unsigned char kOptions = CSV_STRICT | CSV_STRICT_FINI;
    csv_init(&state, kOptions);
  }
  ~Parser() { csv_free(&state); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
};

Failure<ConfigError> malformed(const Collector& collected, std::size_t column,
                               std::string_view message) {
  const TextPlace place{collected.table.file, collected.line, static_cast<std::uint32_t>(column)};
  return {ConfigError::malformed, fmt::format("{}: {}", to_text(place), message)};
}

/// Feeds the text line by line, so that every row knows its line.
std::optional<Failure<ConfigError>> parse(std::string_view text, Collector& collected) {
  Parser parser;
  while (!text.empty()) {
    ++collected.line;
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    // A quoted field may go on over several lines; its row begins on the first of them.
    if (parser.state.pstate == 0) collected.row.line = collected.line;
    const std::size_t done = csv_parse(&parser.state, text.data(), size, Collector::on_field,
                                       Collector::on_row, &collected);
    if (done != size) {
      return malformed(collected, done + 1,
                       "a quote inside a field has to be written twice, and "
                       "the field between quotes");
    }
    text.remove_prefix(size);
  }
  if (csv_fini(&parser.state, Collector::on_field, Collector::on_row, &collected) != 0) {
    collected.line = collected.row.line;
    return malformed(collected, 0, "a quoted field of this row does not end");
  }
  return std::nullopt;
}

}  // namespace

Expected<CsvTable, ConfigError> read_csv(const std::filesystem::path& file) {
  const auto bytes = read_text_file(file);
  if (!bytes) {
    const bool unreadable = bytes.error().code == TextFileError::unreadable;
    return Failure<ConfigError>{unreadable ? ConfigError::unreadable : ConfigError::malformed,
                                bytes.error().message};
  }
  Collector collected;
  collected.table.file = file.string();
  std::string_view text = bytes.value();
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (auto failure = parse(text, collected)) return *failure;
  if (collected.table.header.fields.empty()) {
    return malformed(collected, 0, "the first line has to name the columns");
  }
  return std::move(collected.table);
}

std::string csv_field(std::string_view text) {
  const bool padded = !text.empty() && (text.front() == ' ' || text.front() == '\t' ||
                                        text.back() == ' ' || text.back() == '\t');
  if (!padded && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted(2 * text.size() + 2, '\0');
  quoted.resize(csv_write(quoted.data(), quoted.size(), text.data(), text.size()));
  return quoted;
}

CsvReader::CsvReader(const CsvTable& table, std::span<const CsvColumn> known, ErrorList& errors)
    : table_(table), errors_(errors) {
  const TextPlace place{table.file, table.header.line, 0};
  std::vector<std::string> names;
  for (const CsvColumn& column : known) names.emplace_back(column.name);
  for (std::size_t i = 0; i < table.header.fields.size(); ++i) {
    const std::string& name = table.header.fields[i];
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      errors.add(place, "header", unknown_word("column", name, names));
    } else if (!positions_.emplace(name, i).second) {
      errors.add(place, "header", fmt::format("column '{}' appears twice", name));
    }
  }
  for (const CsvColumn& column : known) {
    if (column.required && !positions_.contains(column.name)) {
      errors.add(place, "header", fmt::format("column '{}' is missing", column.name));
    }
  }
}

bool CsvReader::select(const CsvRow& row) {
  row_ = &row;
  if (row.fields.size() == table_.header.fields.size()) return true;
  errors_.add({table_.file, row.line, 0}, "",
              fmt::format("the row has {} fields, the header names {}", row.fields.size(),
                          table_.header.fields.size()));
  return false;
}

const std::string& CsvReader::text(std::string_view column) const {
  const auto position = positions_.find(column);
  return position == positions_.end() ? kNoText : row_->fields[position->second];
}

const std::string& CsvReader::needed_text(std::string_view column) {
  if (!has(column) && positions_.contains(column)) complain(column, "must not be empty");
  return text(column);
}

double CsvReader::number(std::string_view column, const NumberRange& range) {
  if (!positions_.contains(column)) return range.low;
  const std::string& field = text(column);
  const std::optional<double> number = parse_number(field);
  if (number && range.contains(*number)) return *number;
  complain(column, fmt::format("has to be {}; it is '{}'", describe(range), field));
  return range.low;
}

double CsvReader::number_or(std::string_view column, const NumberRange& range, double fallback) {
  return has(column) ? number(column, range) : fallback;
}

Duration CsvReader::seconds(std::string_view column, Duration limit) {
  if (!has(column)) return Duration::zero();
  const std::string& field = text(column);
  // A bare number is asked for: the column's name already says the unit.
  const std::optional<Duration> time =
      parse_number(field) ? parse_duration(field) : std::optional<Duration>{};
  if (time && *time >= Duration::zero() && *time <= limit) return *time;
  complain(column, fmt::format("has to be a number of seconds from 0 to {}; it is '{}'",
                               seconds_text(limit), field));
  return Duration::zero();
}

void CsvReader::complain(std::string_view column, std::string_view message) {
  errors_.add({table_.file, row_->line, 0}, column, message);
}

}  // namespace muster
