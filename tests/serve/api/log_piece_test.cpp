#include "serve/api/log_piece.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace muster::api {
namespace {

using nlohmann::json;

const std::string kBad = "\xEF\xBF\xBD";

TEST(LogPieceTest, EachBadByteBecomesOneMarkAndSwallowsNothing) {
  EXPECT_EQ(as_utf8("plain \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x90\x8C"),
            "plain \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x90\x8C");
  EXPECT_EQ(as_utf8("\xFFgood"), kBad + "good");
  EXPECT_EQ(as_utf8("a\xC3z"), "a" + kBad + "z");
  EXPECT_EQ(as_utf8("\xE2\x82z"), kBad + kBad + "z");
  EXPECT_EQ(as_utf8("\xC0\x80"), kBad + kBad) << "too long a form";
  EXPECT_EQ(as_utf8("\xED\xA0\x80"), kBad + kBad + kBad) << "half a pair";
  EXPECT_EQ(as_utf8("\xF4\x90\x80\x80"), kBad + kBad + kBad + kBad) << "beyond all characters";
  EXPECT_EQ(as_utf8(std::string("\0x", 2)), std::string("\0x", 2));
}

TEST(LogPieceTest, TextEndsBetweenCharacters) {
  EXPECT_EQ(whole_characters("abc"), 3U);
  EXPECT_EQ(whole_characters("ab\xC3\xA4"), 4U);
  EXPECT_EQ(whole_characters("ab\xC3"), 2U);
  EXPECT_EQ(whole_characters("ab\xF0\x9F\x90"), 2U);
  EXPECT_EQ(whole_characters("ab\xF0\x9F\x90\x8C"), 6U);
  EXPECT_EQ(whole_characters("ab\x90"), 3U) << "a byte that belongs to nothing is not waited for";
  EXPECT_EQ(whole_characters("ab\xFF"), 3U);
  EXPECT_EQ(whole_characters(""), 0U);
}

TEST(LogPieceTest, PiecesOfAnySizeGiveTheWholeText) {
  const std::string all = "na\xC3\xAFve \xE2\x82\xAC\xF0\x9F\x90\x8C end\n";
  for (std::size_t size = 4; size < all.size(); ++size) {
    std::string read;
    LogPiece piece;
    for (std::uint64_t at = 0; at < all.size();) {
      piece.offset = at;
      piece.bytes = all.substr(at, size);
      piece.more = at + piece.bytes.size() < all.size();
      const json document = json::parse(log_document(LogQuery{}, piece).json);
      read += document["text"].get<std::string>();
      ASSERT_GT(document["next_offset"].get<std::uint64_t>(), at);
      at = document["next_offset"].get<std::uint64_t>();
    }
    EXPECT_EQ(read, all) << "in pieces of " << size;
  }
}

TEST(LogPieceTest, ADocumentSaysWhoseStreamItIs) {
  LogQuery query;
  query.job = JobId{12};
  query.index = 3;
  query.error_stream = true;
  const json document = json::parse(log_document(query, LogPiece{}).json);
  EXPECT_EQ(document["job"], 12);
  EXPECT_EQ(document["task"], 3);
  EXPECT_EQ(document["stream"], "err");
}

TEST(LogPieceTest, ALossIsSaidInBothForms) {
  LogPiece piece;
  piece.attempt = 2;
  piece.bytes = "\xFF";
  piece.size = 1;
  piece.lost = "it\nwas gone";
  const json document = json::parse(log_document(LogQuery{}, piece).json);
  EXPECT_TRUE(document["lost"].get<bool>());
  EXPECT_EQ(document["lost_reason"], "it\nwas gone");
  const Answer raw = log_bytes(piece);
  EXPECT_EQ(raw.json, "\xFF");
  EXPECT_EQ(raw.content_type, "application/octet-stream");
  EXPECT_EQ(raw.headers, (Headers{{"Muster-Attempt", "2"},
                                  {"Muster-Offset", "0"},
                                  {"Muster-Next-Offset", "1"},
                                  {"Muster-Size", "1"},
                                  {"Muster-More", "0"},
                                  {"Muster-Lost", "it was gone"}}));
}

}  // namespace
}  // namespace muster::api
