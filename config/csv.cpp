#include "config/csv.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "config/text_file.hpp"

namespace muster {
namespace {

const std::string kNoText;
/// A job of a million tasks with a number of its own each has room in it.
constexpr std::size_t kMaxRowBytes = std::size_t{1} << 26;

Failure<ConfigError> as_csv_error(const Failure<TextFileError>& failure) {
  const bool unreadable = failure.code == TextFileError::unreadable;
  return {unreadable ? ConfigError::unreadable : ConfigError::malformed, failure.message};
}

}  // namespace

// libcsv parses; this finds lines, bounds rows and hands out one row at a time, so that a trace of
// any size takes the memory of a row.
struct CsvStream::Source {
  /// Owns a parser's buffer.
  struct Parser {
    csv_parser state{};

    Parser() {
      // Strict: a quote that stands wrong is an error instead of a guess.
      constexpr unsigned char kOptions = CSV_STRICT | CSV_STRICT_FINI;
      csv_init(&state, kOptions);
      constexpr std::size_t kGrowth = std::size_t{1} << 12;
      csv_set_blk_size(&state, kGrowth);
    }
    ~Parser() { csv_free(&state); }
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;
  };

  explicit Source(const std::filesystem::path& path)
      : text(path, kAnyTextBytes), file(text_file_name(path)) {}

  Failure<ConfigError> malformed(std::size_t at, std::string_view message) const {
    const TextPlace place{file, line, static_cast<std::uint32_t>(at)};
    return {ConfigError::malformed, fmt::format("{}: {}", to_text(place), message)};
  }

  /// Brings the next row into `row`; false at the end.
  Expected<bool, ConfigError> next() {
    if (std::exchange(again, false)) return true;
    fields = 0;
    complete = false;
    while (!complete) {
      if (left.empty()) {
        auto piece = text.next();
        if (!piece) return as_csv_error(piece.error());
        left = piece.value();
        if (left.empty()) return finish();
      }
      if (auto failure = parse_part()) return *failure;
    }
    return true;
  }

  /// Feeds up to the end of a line, so that no more than one row is complete afterwards and every
  /// row knows its line.
  std::optional<Failure<ConfigError>> parse_part() {
    if (at_line_start) {
      ++line;
      column = 0;
      // A quoted field may go on over several lines; its row begins on the first of them.
      if (parser.state.pstate == 0) {
        row.line = line;
        row_bytes = 0;
      }
    }
    // Up to and with the next line break, or all that is left of the piece.
    const std::size_t size = std::min(left.find_first_of("\r\n"), left.size() - 1) + 1;
    at_line_start = left[size - 1] == '\n';
    row_bytes += size;
    if (row_bytes > kMaxRowBytes) {
      return malformed(0, fmt::format("a row of more than {} bytes", kMaxRowBytes));
    }
    const std::size_t done = csv_parse(&parser.state, left.data(), size, on_field, on_row, this);
    if (done != size) {
      return malformed(column + done + 1,
                       "a quote inside a field has to be written twice, and "
                       "the field between quotes");
    }
    // Columns of a message count bytes of the line, over the pieces that it comes in.
    column += size;
    left.remove_prefix(size);
    return std::nullopt;
  }

  /// The last row need not end with a line break.
  Expected<bool, ConfigError> finish() {
    if (std::exchange(finished, true)) return false;
    if (csv_fini(&parser.state, on_field, on_row, this) != 0) {
      // The place of a quote that does not end is where its row begins.
      line = row.line;
      return malformed(0, "a quoted field of this row does not end");
    }
    return complete;
  }

  static void on_field(void* bytes, std::size_t size, void* self) {
    Source& to = *static_cast<Source*>(self);
    // The strings of the row before are used again.
    if (to.fields == to.row.fields.size()) to.row.fields.emplace_back();
    to.row.fields[to.fields++].assign(static_cast<const char*>(bytes), size);
  }
  static void on_row(int /*terminator*/, void* self) {
    Source& to = *static_cast<Source*>(self);
    to.row.fields.resize(to.fields);
    to.complete = true;
  }

  TextStream text;
  std::string file;
  Parser parser;
  std::string_view left;  ///< of the present piece of text, what is not parsed yet
  CsvRow header, row;
  std::size_t fields = 0;  ///< of `row`, so far
  bool complete = false;   ///< `row` is
  bool finished = false;
  bool again = false;  ///< `row` has not been handed out yet
  bool at_line_start = true;
  std::uint32_t line = 0;     ///< the one that is being parsed
  std::size_t column = 0;     ///< bytes of it that are parsed
  std::size_t row_bytes = 0;  ///< of the present row, so far
};

CsvStream::CsvStream(std::unique_ptr<Source> source) : source_(std::move(source)) {}
CsvStream::~CsvStream() = default;
CsvStream::CsvStream(CsvStream&&) noexcept = default;
CsvStream& CsvStream::operator=(CsvStream&&) noexcept = default;

Expected<CsvStream, ConfigError> CsvStream::open(const std::filesystem::path& file,
                                                 std::span<const std::string_view> headless) {
  auto source = std::make_unique<Source>(file);
  const auto has_header = source->next();
  // An empty file has no header, which is an error and not an empty table.
  if (!has_header) return has_header.error();
  if (!has_header.value()) return source->malformed(0, "the first line has to name the columns");
  source->header = source->row;
  const std::vector<std::string>& first = source->row.fields;
  const bool named = std::any_of(first.begin(), first.end(), [&](const std::string& field) {
    return std::find(headless.begin(), headless.end(), field) != headless.end();
  });
  // As it is published, without names, the file begins with its first row.
  if (!headless.empty() && !named && first.size() == headless.size()) {
    source->header.fields.assign(headless.begin(), headless.end());
    source->again = true;
  }
  return CsvStream(std::move(source));
}

const std::string& CsvStream::file() const {
  return source_->file;
}
const CsvRow& CsvStream::header() const {
  return source_->header;
}

Expected<const CsvRow*, ConfigError> CsvStream::next() {
  const auto has_row = source_->next();
  if (!has_row) return has_row.error();
  return has_row.value() ? &source_->row : nullptr;
}

Expected<CsvTable, ConfigError> read_csv(const std::filesystem::path& file) {
  auto stream = CsvStream::open(file);
  if (!stream) return stream.error();
  CsvTable table{stream->file(), stream->header(), {}};
  for (;;) {
    const auto row = stream->next();
    if (!row) return row.error();
    if (row.value() == nullptr) return table;
    table.rows.push_back(*row.value());
  }
}

std::string csv_field(std::string_view text) {
  const bool padded = !text.empty() && (text.front() == ' ' || text.front() == '\t' ||
                                        text.back() == ' ' || text.back() == '\t');
  if (!padded && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  // Every byte may be a quote, which is written twice, and two more are around them.
  std::string quoted(2 * text.size() + 2, '\0');
  quoted.resize(csv_write(quoted.data(), quoted.size(), text.data(), text.size()));
  return quoted;
}

CsvReader::CsvReader(const CsvTable& table, std::span<const CsvColumn> known, ErrorList& errors)
    : CsvReader(table.file, table.header, known, errors) {}

CsvReader::CsvReader(const CsvStream& stream, std::span<const CsvColumn> known, ErrorList& errors)
    : CsvReader(stream.file(), stream.header(), known, errors) {}

CsvReader::CsvReader(const std::string& file, const CsvRow& header,
                     std::span<const CsvColumn> known, ErrorList& errors)
    : file_(file), width_(header.fields.size()), errors_(errors) {
  // Once for a file: columns are found by name and may stand in any order.
  const TextPlace place{file, header.line, 0};
  std::vector<std::string> names;
  for (const CsvColumn& column : known) names.emplace_back(column.name);
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const std::string& name = header.fields[i];
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      errors.add(place, "header", unknown_word("column", name, names));
    } else if (!positions_.emplace(name, i).second) {
      errors.add(place, "header", fmt::format("column '{}' appears twice", brief(name)));
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
  if (row.fields.size() == width_) return true;
  // Rows of another width are not guessed at: a comma too many would move all fields.
  errors_.add({file_, row.line, 0}, "",
              fmt::format("the row has {} fields, the header names {}", row.fields.size(), width_));
  return false;
}

const std::string& CsvReader::text(std::string_view column) const {
  // An optional column that the file does not have reads as empty.
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
  complain(column, fmt::format("has to be {}; it is '{}'", describe(range), brief(field)));
  // Reading goes on with a value inside the range: one call shows all mistakes.
  return range.low;
}

double CsvReader::number_or(std::string_view column, const NumberRange& range, double fallback) {
  return has(column) ? number(column, range) : fallback;
}

Duration CsvReader::seconds(std::string_view column, Duration limit) {
  if (!has(column)) return Duration::zero();
  const std::string& field = text(column);
  // A bare number is asked for: the column's name already says the unit.
  const std::optional<Duration> time = parse_in_units(field, std::chrono::seconds{1});
  if (time && *time >= Duration::zero() && *time <= limit) return *time;
  complain(column, fmt::format("has to be a number of seconds from 0 to {}; it is '{}'",
                               seconds_text(limit), brief(field)));
  return Duration::zero();
}

Moment CsvReader::moment(std::string_view column, const MomentRange& range) {
  const std::string& field = text(column);
  const auto moment = parse_moment(field, range.unit);
  if (moment && (range.before_zero || moment->at >= Duration::zero())) return *moment;
  if (field.empty()) {
    complain(column, fmt::format("must not be empty; it has to be {}", kWantedMoment));
  } else {
    complain(column, fmt::format("has to be {}; it is '{}'", kWantedMoment, brief(field)));
  }
  return {};
}

void CsvReader::complain(std::string_view column, std::string_view message) {
  errors_.add({file_, row_->line, 0}, column, message);
}

}  // namespace muster
