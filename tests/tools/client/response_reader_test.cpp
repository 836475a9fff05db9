#include "tools/client/response_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace muster::client {
namespace {

using testing::Contains;
using testing::Pair;

constexpr std::size_t kLimit = 1000;

/// A reader that has been fed with the text byte by byte, as a slow network may.
class Fed : public ResponseReader {
 public:
  explicit Fed(std::string_view text) : ResponseReader(kLimit) {
    for (std::size_t i = 0; i < text.size() && !complete() && !broken(); ++i) {
      feed(text.substr(i, 1));
    }
  }
};

TEST(ResponseReader, ReadsStatusHeadersAndBody) {
  Fed reader(
      "HTTP/1.1 404 Not Found\r\nX-One:  a b \r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nhello");
  ASSERT_TRUE(reader.complete());
  EXPECT_TRUE(reader.keeps_alive());
  EXPECT_EQ(reader.reply().outcome, Outcome::answered);
  EXPECT_EQ(reader.reply().status, 404);
  EXPECT_EQ(reader.reply().body, "hello");
  EXPECT_THAT(reader.reply().headers, Contains(Pair("x-one", "a b")));
  EXPECT_THAT(reader.reply().headers, Contains(Pair("retry-after", "7")));
}

TEST(ResponseReader, PutsChunksTogether) {
  Fed reader(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(reader.reply().body, "abcde");
}

TEST(ResponseReader, PassesOverInterimAnswers) {
  Fed reader("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(reader.reply().status, 201);
  EXPECT_EQ(reader.reply().body, "");
}

TEST(ResponseReader, ReadsToTheEndOfTheConnectionWhereNoLengthIsSaid) {
  Fed reader("HTTP/1.0 200 OK\r\n\r\nall of it");
  EXPECT_FALSE(reader.complete());
  reader.feed({});
  ASSERT_TRUE(reader.complete());
  EXPECT_FALSE(reader.keeps_alive());
  EXPECT_EQ(reader.reply().body, "all of it");
}

TEST(ResponseReader, TellsAnAnswerThatIsCutOffFromNone) {
  Fed cut("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal");
  cut.feed({});
  EXPECT_FALSE(cut.complete());
  ASSERT_TRUE(cut.broken());
  EXPECT_EQ(cut.reply().outcome, Outcome::lost);
  Fed none("SSH-2.0-OpenSSH_9.2\r\n");
  ASSERT_TRUE(none.broken());
  EXPECT_EQ(none.reply().outcome, Outcome::failed);
}

TEST(ResponseReader, EndsAnAnswerThatIsLargerThanAllowed) {
  Fed reader("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + std::string(kLimit, 'x'));
  EXPECT_FALSE(reader.broken());
  reader.feed("x");
  ASSERT_TRUE(reader.broken());
  EXPECT_EQ(reader.reply().outcome, Outcome::too_large);
}

TEST(ResponseReader, TakesNothingThatIsNearlyHttp) {
  for (const char* text :
       {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "HTTP/2.0 200 OK\r\n", "HTTP/1.1 2x0 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"}) {
    Fed reader(text);
    ASSERT_TRUE(reader.broken()) << text;
    EXPECT_EQ(reader.reply().outcome, Outcome::failed) << text;
  }
}

TEST(ResponseReader, BoundsTheHead) {
  ResponseReader reader(kLimit);
  reader.feed("HTTP/1.1 200 OK\r\n");
  for (int i = 0; i < 200 && !reader.broken(); ++i) {
    reader.feed("X: " + std::string(1000, 'a') + "\r\n");
  }
  ASSERT_TRUE(reader.broken());
  EXPECT_EQ(reader.reply().outcome, Outcome::failed);
}

TEST(ResponseReader, MakesOfAnAnswerTheSameHoweverItIsCut) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: 1\r\nTransfer-Encoding: chunked\r\n"
      "\r\n3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nT: 1\r\n\r\n";
  for (std::size_t cut = 1; cut <= text.size(); ++cut) {
    ResponseReader reader(kLimit);
    reader.feed(text.substr(0, cut));
    EXPECT_EQ(reader.complete(), cut == text.size());
    if (cut < text.size()) reader.feed(text.substr(cut));
    ASSERT_TRUE(reader.complete()) << cut;
    EXPECT_TRUE(reader.keeps_alive());
    EXPECT_EQ(reader.reply().body, "abc0123456789abcdef") << cut;
    EXPECT_THAT(reader.reply().headers, Contains(Pair("x", "1")));
  }
}

TEST(PlainTransfer, TakesAddressesOfThisMachineWithoutTlsAlone) {
  for (const char* api :
       {"http://127.0.0.1:8800", "http://127.0.0.1", "http://127.1.2.3:1/prefix"}) {
    EXPECT_TRUE(takes_plain(api)) << api;
  }
  for (const char* api : {"https://127.0.0.1:8800", "http://localhost:8800", "http://10.0.0.1:8800",
                          "http://[::1]:8800", "http://127.0.0.1:0", "http://127.0.0.1:65536",
                          "http://127.0.0.1:", "http://me@127.0.0.1:8800",
                          "http://127.0.0.1.example.org", "http://127.0.0.1:8800/?a"}) {
    EXPECT_FALSE(takes_plain(api)) << api;
  }
}

}  // namespace
}  // namespace muster::client
