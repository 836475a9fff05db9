#include "config/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using test::TempFile;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<CsvColumn, 3> kColumns = {{{"name", true}, {"size", true}, {"note"}}};

Failure<ConfigError> failure_of(std::string_view content) {
  const TempFile file("t.csv", content);
  return read_csv(file.path()).error();
}

/// The errors that a reader finds which wants a name and a size from 0 to 8 in every row.
std::string complaints(std::string_view content) {
  const TempFile file("t.csv", content);
  const auto table = read_csv(file.path());
  ErrorList errors;
  CsvReader reader(table.value(), kColumns, errors);
  for (const CsvRow& row : table.value().rows) {
    if (!reader.select(row)) continue;
    reader.needed_text("name");
    reader.number("size", {.low = 0, .high = 8});
  }
  return errors.text();
}

TEST(ReadCsv, KeepsTheLineOfEveryRow) {
  const TempFile file("t.csv", "name,size\na,1\n\nb,2\r\n\"two\nlines\",3\nlast,4");
  const auto table = read_csv(file.path()).value();
  EXPECT_THAT(table.header.fields, ElementsAre("name", "size"));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0].line, 2U);
  EXPECT_EQ(table.rows[1].line, 4U);
  EXPECT_EQ(table.rows[2].line, 5U);
  EXPECT_EQ(table.rows[3].line, 7U);
  EXPECT_THAT(table.rows[2].fields, ElementsAre("two\nlines", "3"));
}

TEST(ReadCsv, DropsAByteOrderMarkAndSpacesAroundFields) {
  const TempFile file("t.csv", "\xEF\xBB\xBFname , size\n a ,\" b \"\n");
  const auto table = read_csv(file.path()).value();
  EXPECT_THAT(table.header.fields, ElementsAre("name", "size"));
  EXPECT_THAT(table.rows.at(0).fields, ElementsAre("a", " b "));
}

TEST(ReadCsv, UnderstandsQuotedCommasAndQuotes) {
  const TempFile file("t.csv", "name\n\"a, \"\"b\"\"\"\n");
  EXPECT_THAT(read_csv(file.path()).value().rows.at(0).fields, ElementsAre("a, \"b\""));
}

TEST(ReadCsv, SaysWhereAStrayQuoteIs) {
  const auto failure = failure_of("name,size\nab\"c,1\n");
  EXPECT_EQ(failure.code, ConfigError::malformed);
  EXPECT_THAT(failure.message, HasSubstr("t.csv:2:3: "));
}

TEST(ReadCsv, SaysWhereAnUnfinishedQuoteBegins) {
  const auto failure = failure_of("name,size\n\"abc,1\nx,2\n");
  EXPECT_EQ(failure.code, ConfigError::malformed);
  EXPECT_THAT(failure.message, IsGoldenAt("t.csv:2"));
}

TEST(ReadCsv, UnderstandsEveryKindOfLineEnd) {
  const TempFile file("t.csv", "name,size\ra,1\r\nb,2\nc,3\r");
  const auto table = read_csv(file.path()).value();
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0].fields, ElementsAre("a", "1"));
  EXPECT_THAT(table.rows[2].fields, ElementsAre("c", "3"));
}

TEST(CsvStream, GivesTheRowsOfAFileOfManyPieces) {
  std::string text = "number,text\n";
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i) + ",\"line\nbreak\"\n";
  const TempFile file("t.csv", text);
  auto stream = CsvStream::open(file.path()).value();
  for (std::uint32_t i = 0; i < 60'000; ++i) {
    const CsvRow* row = stream.next().value();
    ASSERT_NE(row, nullptr);
    ASSERT_EQ(row->line, 2 * i + 2);
    ASSERT_THAT(row->fields, ElementsAre(std::to_string(i), "line\nbreak"));
  }
  EXPECT_EQ(stream.next().value(), nullptr);
  EXPECT_EQ(stream.next().value(), nullptr);
}

TEST(CsvStream, RefusesARowWithoutEnd) {
  const TempFile file("t.csv", "name\n\"" + std::string((std::size_t{1} << 26) + 10, 'x'));
  EXPECT_THAT(read_csv(file.path()).error().message, IsGoldenAt("t.csv:2"));
}

TEST(ReadCsv, WantsAHeader) {
  EXPECT_THAT(failure_of("").message, IsGolden());
  EXPECT_THAT(failure_of("\n\n").message, IsGolden());
}

TEST(ReadCsv, NamesAFileThatCannotBeRead) {
  const auto failure = read_csv("/nonexistent/t.csv").error();
  EXPECT_EQ(failure.code, ConfigError::unreadable);
  EXPECT_THAT(failure.message, IsGoldenAt("/nonexistent/t.csv"));
  EXPECT_EQ(read_csv("/").error().code, ConfigError::unreadable);
}

TEST(CsvReader, ReportsUnknownRepeatedAndMissingColumns) {
  const std::string text = complaints("name,name,note,sise\n");
  EXPECT_THAT(text, IsGoldenAt("t.csv:1: header"));
  EXPECT_THAT(text, HasSubstr("t.csv:1: header: column 'name' appears twice"));
  EXPECT_THAT(text, HasSubstr("t.csv:1: header: column 'size' is missing"));
}

TEST(CsvReader, ReportsShortAndLongRows) {
  const std::string text = complaints("name,size\na\nb,1,2\n");
  EXPECT_THAT(text, IsGoldenAt("t.csv:2", "t.csv:3"));
}

TEST(CsvReader, ReportsBadFieldsWithLineAndColumnName) {
  const std::string text = complaints("name,size\n,1\nb,-1\nc,nan\nd,9\ne,many\n");
  EXPECT_THAT(text, IsGoldenAt("t.csv:2: name", "t.csv:3: size", "t.csv:4: size", "t.csv:5: size",
                               "t.csv:6: size"));
}

RC_GTEST_PROP(Csv, AnyTextSurvivesBeingAField, (const std::string& text)) {
  // libcsv has no null bytes in unquoted fields, and blank rows do not count as rows.
  RC_PRE(text.find('\0') == std::string::npos);
  const TempFile file("t.csv", "left,middle\nx," + csv_field(text) + "\n");
  const auto table = read_csv(file.path());
  RC_ASSERT(table.has_value());
  RC_ASSERT(table.value().rows.at(0).fields.at(1) == text);
}

}  // namespace
}  // namespace muster
