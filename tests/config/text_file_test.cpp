#include "config/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <string>

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using test::TempFile;
using testing::HasSubstr;

std::string error_of(const std::string& content) {
  const TempFile file("t.txt", content);
  return test::message_of(read_text_file(file.path()), TextFileError::damaged);
}

TEST(TextFile, IsReadWithoutItsByteOrderMark) {
  const TempFile file("t.txt", "\xEF\xBB\xBFone\n");
  EXPECT_EQ(read_text_file(file.path()).value(), "one\n");
  const TempFile nothing("n.txt", "\xEF\xBB\xBF");
  EXPECT_EQ(read_text_file(nothing.path()).value(), "");
}

TEST(TextFile, OfTwoBytesACharacterIsNamed) {
  EXPECT_THAT(error_of({"\xFF\xFEo\0", 4}), IsGolden());
  EXPECT_THAT(error_of({"\xFE\xFF\0o", 4}), HasSubstr("is UTF-16"));
  EXPECT_THAT(error_of({"\0\0\xFE\xFF\0\0\0o", 8}), HasSubstr("is UTF-32"));
  EXPECT_THAT(error_of({"o\0", 2}), IsGolden());
}

TEST(TextFile, SaysWhyItCannotBeRead) {
  EXPECT_THAT(read_text_file("/nonexistent/t").error().message, IsGoldenAt("/nonexistent/t"));
  EXPECT_THAT(read_text_file("/").error().message, IsGoldenAt("/"));
}

/// The text as gzip packs it.
std::string packed(const std::string& text) {
  z_stream state{};
  EXPECT_EQ(deflateInit2(&state, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&state, text.size()) + 64, '\0');
  std::string from = text;
  state.next_in = reinterpret_cast<Bytef*>(from.data());
  state.avail_in = static_cast<uInt>(from.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::string text_of(const std::string& content) {
  const TempFile file("t.txt", content);
  return read_text_file(file.path()).value();
}

TEST(TextFile, ThatGzipPackedComesOutUnpacked) {
  EXPECT_EQ(text_of(packed("one\ntwo\n")), "one\ntwo\n");
  EXPECT_EQ(text_of(packed("")), "");
  EXPECT_EQ(text_of(packed("\xEF\xBB\xBFone")), "one") << "and without its byte order mark";
}

TEST(TextFile, OfSeveralPackedTextsIsAllOfThem) {
  EXPECT_EQ(text_of(packed("one ") + packed("two ") + packed("three")), "one two three");
}

TEST(TextFile, ThatIsNotWholeOrHasSomethingBehindItIsDamaged) {
  const std::string whole = packed(std::string(1000, 'x') + "end");
  for (const std::string& content :
       {whole.substr(0, whole.size() - 9), whole.substr(0, 12), whole + "more",
        whole.substr(0, 12) + "damaged", packed("one") + packed("two").substr(0, 12)}) {
    EXPECT_NE(error_of(content), "") << content.size();
  }
}

TEST(TextFile, OfManyPiecesIsWhole) {
  std::string text;
  for (int i = 0; text.size() < 700'000; ++i) text += std::to_string(i * 7919) + "\n";
  EXPECT_EQ(text_of(text), text);
  EXPECT_EQ(text_of(packed(text)), text);
}

TEST(TextFile, HasNoMoreTextThanItMay) {
  const TempFile plain("p.txt", std::string(100, 'x'));
  const TempFile small("s.txt", packed(std::string(100'000, 'x')));
  EXPECT_TRUE(read_text_file(plain.path(), 100));
  EXPECT_EQ(read_text_file(plain.path(), 99).error().code, TextFileError::too_large);
  EXPECT_LT(std::filesystem::file_size(small.path()), 1000U);
  EXPECT_EQ(read_text_file(small.path(), 99'999).error().code, TextFileError::too_large)
      << "once it is unpacked";
}

TEST(TextFile, ZeroBytesAreCountedOverTheWholeText) {
  const std::string many(300'000, 'x');
  EXPECT_THAT(error_of(many + std::string(1, '\0')), HasSubstr("300001"));
  EXPECT_THAT(error_of("\xEF\xBB\xBF" + std::string(1, '\0')), HasSubstr("byte 4"));
}

TEST(TextStream, GivesPiecesUntilTheEnd) {
  const TempFile file("t.txt", "one");
  TextStream stream(file.path());
  EXPECT_EQ(stream.file(), file.path());
  EXPECT_EQ(stream.next().value(), "one");
  EXPECT_EQ(stream.next().value(), "");
  EXPECT_EQ(stream.next().value(), "") << "and no more after it";
}

TEST(TextFile, OfTheStandardInputIsCalledSo) {
  EXPECT_EQ(text_file_name("a/b.csv"), "a/b.csv");
  EXPECT_NE(text_file_name(kStandardInput), kStandardInput);
}

}  // namespace
}  // namespace muster
