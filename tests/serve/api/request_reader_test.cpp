// Requests that the reader takes and that it refuses, as a table: each row is read whole, byte
// by byte and cut in two at every place, and what comes of it may not depend on that.

#include "serve/api/request_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace muster::api {
namespace {

constexpr RequestReader::Limits kLimits{.max_target = 40, .max_header = 200, .max_body = 40};

/// Feeds one reader as a connection does, and says in words what came of it.
class Session {
 public:
  void feed(std::string_view bytes) {
    // Bytes behind the head may be there already, or none may have to follow.
    bool after_head = false;
    while (!over_ && (!bytes.empty() || after_head)) {
      const RequestReader::Progress progress = reader_.feed(bytes);
      bytes.remove_prefix(progress.used);
      after_head = progress.event == RequestReader::Event::head;
      if (progress.event == RequestReader::Event::more) break;
      take(progress.event);
    }
    // Nothing else was used up than what is said to be.
    EXPECT_TRUE(over_ || bytes.empty());
  }
  std::string said() const { return over_ ? said_ : said_ + open_; }

 private:
  void take(RequestReader::Event event) {
    const Request& request = reader_.request();
    switch (event) {
      case RequestReader::Event::more:
        return;
      case RequestReader::Event::head:
        if (reader_.body_too_large()) return end("413");
        open_ = fmt::format("{} {}{} ...", request.head.method, request.head.target,
                            reader_.expects_continue() ? " asks" : "");
        return;
      case RequestReader::Event::whole:
        said_ += fmt::format("{} {}{} {}; ", request.head.method, request.head.target,
                             request.body.empty() ? "" : " [" + request.body + "]",
                             reader_.keep_alive() ? "stays" : "closes");
        open_.clear();
        if (!reader_.keep_alive()) return end("");
        return reader_.reset();
      case RequestReader::Event::fault:
        return end(std::to_string(reader_.fault().status));
    }
  }
  void end(const std::string& why) {
    said_ += why;
    over_ = true;
  }

  RequestReader reader_{kLimits};
  std::string said_;
  std::string open_;  ///< the head that waits for its body
  bool over_ = false;
};

std::string outcome(const std::vector<std::string_view>& pieces) {
  Session session;
  for (const std::string_view piece : pieces) session.feed(piece);
  return session.said();
}

/// The outcome of the text, however it is cut.
std::string outcome(std::string_view text) {
  std::string whole = outcome(std::vector{text});
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bytes.push_back(text.substr(i, 1));
    EXPECT_EQ(outcome({text.substr(0, i), text.substr(i)}), whole)
        << testing::PrintToString(text) << " cut at " << i;
  }
  EXPECT_EQ(outcome(bytes), whole) << testing::PrintToString(text) << " byte by byte";
  return whole;
}

struct Row {
  std::string sent;
  std::string outcome;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(outcome(row.sent), row.outcome) << testing::PrintToString(row.sent);
  }
}

/// A request with this first line.
std::string line(std::string_view first) {
  return fmt::format("{}\r\nHost: h\r\n\r\n", first);
}

/// A request with these header fields, each with the end of its line.
std::string fields(std::string_view lines, std::string_view body = {}) {
  return fmt::format("PUT /a HTTP/1.1\r\nHost: h\r\n{}\r\n{}", lines, body);
}

std::string chunks(std::string_view body) {
  return fields("Transfer-Encoding: chunked\r\n", body);
}

const std::string kNext = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(RequestReader, KnowsTheMethodsOfHttp) {
  expect_rows({{line("GET /a HTTP/1.1"), "GET /a stays; "},
               {line("HEAD /a HTTP/1.1"), "HEAD /a stays; "},
               {line("DELETE /a HTTP/1.1"), "DELETE /a stays; "},
               {line("OPTIONS * HTTP/1.1"), "OPTIONS * stays; "},
               {line("M-SEARCH /a HTTP/1.1"), "M-SEARCH /a stays; "},
               {line("PATCH /a HTTP/1.1"), "PATCH /a stays; "},
               {line("TRACE /a HTTP/1.1"), "TRACE /a stays; "},
               {line("get /a HTTP/1.1"), "400"},
               {line("Get /a HTTP/1.1"), "400"},
               {line("GETX /a HTTP/1.1"), "400"},
               {line("GE /a HTTP/1.1"), "400"},
               {line("G-T /a HTTP/1.1"), "400"},
               {line("BREW /a HTTP/1.1"), "400"},
               {line("GET: /a HTTP/1.1"), "400"},
               {line(" GET /a HTTP/1.1"), "400"},
               {line(" /a HTTP/1.1"), "400"},
               {line(std::string(300, 'A') + " /a HTTP/1.1"), "400"},
               {"SSH-2.0-OpenSSH_9.2\r\n", "400"},
               {std::string("\x16\x03\x01\x02\0\x01", 6), "400"}});
}

TEST(RequestReader, KnowsTwoVersions) {
  expect_rows({{line("GET /a HTTP/1.0"), "GET /a closes; "},
               {"GET /a HTTP/1.0\r\n\r\n", "GET /a closes; "},
               {line("GET /a HTTP/1.2"), "400"},
               {line("GET /a HTTP/1.10"), "400"},
               {line("GET /a HTTP/1."), "400"},
               {line("GET /a HTTP/1"), "400"},
               {line("GET /a HTTP/11"), "400"},
               {line("GET /a HTTP/01.1"), "400"},
               {line("GET /a HTTP/0.9"), "400"},
               {line("GET /a HTTP/2.0"), "400"},
               {line("GET /a HTTP/2"), "400"},
               {line("GET /a http/1.1"), "400"},
               {line("GET /a HTTPS/1.1"), "400"},
               {line("GET /a ICE/1.0"), "400"},
               {line("GET /a XTTP/1.1"), "400"},
               {line("GET /a HTTP/-1.1"), "400"},
               {line("GET /a HTTP/1,1"), "400"},
               {line("GET /a HTTP"), "400"},
               {line("GET /a "), "400"},
               {line("GET /a"), "400"},
               {line("GET"), "400"},
               {line("GET /a HTTP/1.1 "), "400"},
               {line("GET /a  HTTP/1.1"), "400"},
               {line("GET /a b HTTP/1.1"), "400"},
               {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"}});
}

TEST(RequestReader, TakesTargetsOfEachForm) {
  const std::string odd = "/a?b={c}|d^`e~[f]\"<g>\\h;i,j#k%zz";
  expect_rows({{line("GET / HTTP/1.1"), "GET / stays; "},
               {line(fmt::format("GET {} HTTP/1.1", odd)), fmt::format("GET {} stays; ", odd)},
               {line("GET //a/../b?? HTTP/1.1"), "GET //a/../b?? stays; "},
               {line("GET http://h:1/a?b HTTP/1.1"), "GET http://h:1/a?b stays; "},
               {line("GET https://u@h/a HTTP/1.1"), "GET https://u@h/a stays; "},
               {line("CONNECT h:443 HTTP/1.1"), "CONNECT h:443 closes; "},
               {fields("").replace(0, 6, "CONNECT h:443"), "CONNECT h:443 closes; "},
               {line("CONNECT \xE4:443 HTTP/1.1"), "400"},
               {line("GET http://\xE4/a HTTP/1.1"), "400"},
               {line("GET h:443 HTTP/1.1"), "400"},
               {line("GET h/a HTTP/1.1"), "400"},
               {line("GET h HTTP/1.1"), "400"},
               {line("GET ?a HTTP/1.1"), "400"},
               {line("GET http:/h/a HTTP/1.1"), "400"},
               {line("GET http:// HTTP/1.1"), "400"},
               {line("GET 1http://h/a HTTP/1.1"), "400"},
               {line("GET \\a HTTP/1.1"), "400"},
               {line("GET /\xC3\xA4 HTTP/1.1"), "GET /\xC3\xA4 stays; "},
               {line("GET /a\x7f HTTP/1.1"), "400"},
               {line("GET /a\tb HTTP/1.1"), "400"},
               {line(std::string("GET /a\0b HTTP/1.1", 17)), "400"},
               {line(fmt::format("GET /{} HTTP/1.1", std::string(39, 'a'))),
                fmt::format("GET /{} stays; ", std::string(39, 'a'))},
               {line(fmt::format("GET /{} HTTP/1.1", std::string(40, 'a'))), "414"},
               {line(fmt::format("GET /{} HTTP/1.1", std::string(400, 'a'))), "414"},
               {"GET /" + std::string(400, 'a'), "414"}});
}

TEST(RequestReader, BoundsTheHeaderFields) {
  const auto field = [](std::size_t bytes) {
    // "Host: h" takes the other 9 of 200, with the end of its line.
    return fields(fmt::format("X: {}\r\n", std::string(bytes - 5, 'a')));
  };
  std::string many;
  for (int i = 0; i < 30; ++i) many += "X: 1\r\n";
  expect_rows({{field(191), "PUT /a stays; "},
               {field(192), "431"},
               {field(5000), "431"},
               {fields(fmt::format("{}: 1\r\n", std::string(5000, 'a'))), "431"},
               {fields(many), "PUT /a stays; "},
               {fields(many + many), "431"},
               {fields("X: 1" + std::string(5000, ' ') + "\r\n"), "431"}});
}

TEST(RequestReader, PassesOverEmptyLinesBeforeARequest) {
  expect_rows({{"\r\n" + kNext, "GET /b stays; "},
               {"\r\n\r\n\r\n" + kNext, "GET /b stays; "},
               {kNext + "\r\n" + kNext, "GET /b stays; GET /b stays; "},
               {"\n" + kNext, "400"},
               {"\r" + kNext, "400"},
               {" \r\n" + kNext, "400"},
               {"\r\n", ""}});
}

TEST(RequestReader, EndsLinesWithBothCharacters) {
  expect_rows({{fields("X: 1\n"), "400"},
               {fields("X: 1\rY: 2\r\n"), "400"},
               {fields("X: 1\r\r\n"), "400"},
               {"GET /a HTTP/1.1\nHost: h\n\n", "400"},
               {"GET /a HTTP/1.1\r\nHost: h\r\n\n", "400"},
               {"GET /a HTTP/1.1\rHost: h\r\n\r\n", "400"},
               {fields("X: 1\r\n 2\r\n"), "400"},
               {fields("X: 1\r\n\t2\r\n"), "400"},
               {fields("X:\r\n 2\r\n"), "400"},
               {fields(" X: 1\r\n"), "400"}});
}

TEST(RequestReader, HasFieldsOfANameAndAValue) {
  expect_rows({{fields("X:\r\n"), "PUT /a stays; "},
               {fields("X:1\r\n"), "PUT /a stays; "},
               {fields("X: \t 1 \t \r\n"), "PUT /a stays; "},
               {fields("X: a:b\r\n"), "PUT /a stays; "},
               {fields("X: \xC3\xA4\xff\r\n"), "PUT /a stays; "},
               {fields("x!#$%&'*+-.^_`|~9: 1\r\n"), "PUT /a stays; "},
               {fields("X : 1\r\n"), "400"},
               {fields("X\t: 1\r\n"), "400"},
               {fields("X Y: 1\r\n"), "400"},
               {fields("X(Y: 1\r\n"), "400"},
               {fields("X\"Y: 1\r\n"), "400"},
               {fields("X/Y: 1\r\n"), "400"},
               {fields("X[Y: 1\r\n"), "400"},
               {fields("X{Y: 1\r\n"), "400"},
               {fields("X\xC3\xA4: 1\r\n"), "400"},
               {fields(": 1\r\n"), "400"},
               {fields("X\r\n"), "400"},
               {fields(std::string("X: a\0b\r\n", 8)), "400"},
               {fields(std::string("X\0: a\r\n", 7)), "400"},
               {fields("X: a\x01\r\n"), "400"},
               {fields("X: a\x1b[1m\r\n"), "400"},
               {fields("X: a\x7f\r\n"), "400"},
               {fields("Host: h\r\n"), "400"},
               {"GET /a HTTP/1.1\r\n\r\n", "400"},
               {"GET /a HTTP/1.1\r\nHost: \r\n\r\n", "400"}});
}

TEST(RequestReader, IsToldOnceHowLongABodyIs) {
  const auto length = [](std::string_view value, std::string_view body = "abc") {
    return fields(fmt::format("Content-Length:{}\r\n", value), body);
  };
  expect_rows({{length(" 3"), "PUT /a [abc] stays; "},
               {length("3"), "PUT /a [abc] stays; "},
               {length(" \t003 "), "PUT /a [abc] stays; "},
               {length(" 0", kNext), "PUT /a stays; GET /b stays; "},
               {length(" 3", "abc" + kNext), "PUT /a [abc] stays; GET /b stays; "},
               {length(" 3", "abcd"), "PUT /a [abc] stays; 400"},
               {length(" 4"), "PUT /a ..."},
               {fields("", kNext), "PUT /a stays; GET /b stays; "},
               {length(""), "400"},
               {length(" "), "400"},
               {length(" 3\t"), "400"},
               {length(" 3 \t"), "400"},
               {length(" +3"), "400"},
               {length(" -3"), "400"},
               {length(" -0"), "400"},
               {length(" 3,3"), "400"},
               {length(" 3, 3"), "400"},
               {length(" ,3"), "400"},
               {length(" 3 3"), "400"},
               {length(" 3;a"), "400"},
               {length(" 3a"), "400"},
               {length(" 0x3"), "400"},
               {length(" 3.0"), "400"},
               {length(" \"3\""), "400"},
               {length(" 3\r\nContent-Length: 3"), "400"},
               {length(" 3\r\nContent-Length: 4"), "400"},
               {length(" 0\r\ncontent-length: 0"), "400"},
               {length(" 18446744073709551616"), "400"},
               {length(" 18446744073709551619"), "400"},
               {length(" 99999999999999999999999999"), "400"},
               {length(" 9223372036854775808"), "413"},
               {length(" 41"), "413"},
               {length(" 40", std::string(40, 'a')),
                fmt::format("PUT /a [{}] stays; ", std::string(40, 'a'))}});
}

TEST(RequestReader, KnowsNoCodingButChunks) {
  const auto coded = [](std::string_view lines) {
    return fields(lines, "3\r\nabc\r\n0\r\n\r\n" + kNext);
  };
  const std::string both = "PUT /a [abc] stays; GET /b stays; ";
  expect_rows({{coded("Transfer-Encoding: chunked\r\n"), both},
               {coded("transfer-encoding:CHUNKED \r\n"), both},
               {coded("Transfer-Encoding: gzip, chunked\r\n"), "501"},
               {coded("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), "501"},
               {coded("Transfer-Encoding: chunked, gzip\r\n"), "400"},
               {coded("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"), "400"},
               {coded("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "400"},
               {coded("Transfer-Encoding: chunked, chunked\r\n"), "400"},
               {coded("Transfer-Encoding: gzip\r\n"), "400"},
               {coded("Transfer-Encoding: identity\r\n"), "400"},
               {coded("Transfer-Encoding: garbage\r\n"), "400"},
               {coded("Transfer-Encoding: chunked;q=1\r\n"), "400"},
               {coded("Transfer-Encoding: \"chunked\"\r\n"), "400"},
               {coded("Transfer-Encoding: xchunked\r\n"), "400"},
               {coded("Transfer-Encoding: chunke\r\n"), "400"},
               {coded("Transfer-Encoding: \r\n"), "400"},
               {coded("Transfer-Encoding: \x0b"
                      "chunked\r\n"),
                "400"},
               {coded("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), "400"},
               {coded("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), "400"},
               {coded("Content-Length: 3\r\nTransfer-Encoding: gzip\r\n"), "400"},
               {coded("Transfer-Encoding: gzip\r\nContent-Length: 3\r\n"), "400"},
               {coded("Transfer-Encoding: ,chunked\r\n"), "400"},
               {coded("Transfer-Encoding: chunked\t\r\n"), "400"},
               {coded("Transfer-Encodings: chunked\r\n"), "400"},
               {coded("TE: garbage; \"\r\nTransfer-Encoding: chunked\r\n"), both},
               {"PUT /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"}});
}

TEST(RequestReader, PutsChunksTogether) {
  const std::string abc = "PUT /a [abc] stays; ";
  expect_rows(
      {{chunks("3\r\nabc\r\n0\r\n\r\n"), abc},
       {chunks("1\r\na\r\n002\r\nbc\r\n000\r\n\r\n"), abc},
       {chunks("0\r\n\r\n"), "PUT /a stays; "},
       {chunks("a\r\n0123456789\r\n0\r\n\r\n"), "PUT /a [0123456789] stays; "},
       {chunks("A\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n"), "PUT /a [\r\n\r\n\r\n\r\n\r\n] stays; "},
       {chunks("3;a\r\nabc\r\n0;b=c\r\n\r\n"), abc},
       {chunks("3;a=\"b;c\"\r\nabc\r\n0\r\n\r\n"), abc},
       {chunks("3\r\nabc\r\n0\r\nX: 1\r\nY: 2\r\n\r\n" + kNext), abc + "GET /b stays; "},
       {chunks("3\r\nabc\r\n"), "PUT /a ..."},
       {chunks("3\r\nabc\r\n0\r\n"), "PUT /a ..."},
       {chunks("3 \r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks(" 3\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("\t3\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("+3\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("-3\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("0x3\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("g\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks(";a\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("3\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("3\r\nabc\n0\r\n\r\n"), "400"},
       {chunks("3\r\nabcd\r\n0\r\n\r\n"), "400"},
       {chunks("4\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("3\r\nabc\r\n0\r\n\n"), "400"},
       {chunks("3\r\nabc\r\n0\r\n X: 1\r\n\r\n"), "400"},
       {chunks("3\r\nabc\r\n0\r\nX: \x01\r\n\r\n"), "400"},
       {chunks("10000000000000003\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("00000000000000003\r\nabc\r\n0\r\n\r\n"), "400"},
       {chunks("fffffffffffffffff\r\nabc\r\n0\r\n\r\n"), "400"}});
}

TEST(RequestReader, BoundsWhatComesInChunks) {
  const std::string forty(40, 'a');
  expect_rows({{chunks(fmt::format("28\r\n{}\r\n0\r\n\r\n", forty)),
                fmt::format("PUT /a [{}] stays; ", forty)},
               {chunks(fmt::format("29\r\n{}a\r\n0\r\n\r\n", forty)), "413"},
               {chunks(fmt::format("28\r\n{}\r\n1\r\na\r\n0\r\n\r\n", forty)), "413"},
               {chunks("fffffffffffffff\r\n" + forty + "a"), "413"},
               {chunks(fmt::format("0\r\nX: {}\r\n\r\n", std::string(400, 'a'))), "431"}});
}

TEST(RequestReader, StaysForAsLongAsBothWantTo) {
  const auto version = [](std::string_view number, std::string_view lines) {
    return fmt::format("GET /a HTTP/{}\r\nHost: h\r\n{}\r\n{}", number, lines, kNext);
  };
  const std::string stays = "GET /a stays; GET /b stays; ";
  const std::string closes = "GET /a closes; ";
  expect_rows({{version("1.1", ""), stays},
               {version("1.1", "Connection: close\r\n"), closes},
               {version("1.1", "Connection: CLOSE\r\n"), closes},
               {version("1.1", "Connection: keep-alive\r\n"), stays},
               {version("1.1", "Connection: x, close\r\n"), closes},
               {version("1.1", "Connection: keep-alive, close\r\n"), closes},
               {version("1.1", "Connection: x\r\nConnection: close\r\n"), closes},
               {version("1.1", "Connection:\r\n"), stays},
               {version("1.1", "Connection: closed\r\n"), stays},
               {version("1.1", "Connection: TE\r\nTE: trailers\r\n"), stays},
               {version("1.0", ""), closes},
               {version("1.0", "Connection: keep-alive\r\n"), stays},
               {version("1.0", "Connection: Keep-Alive\r\n"), stays},
               {version("1.0", "Connection: close, keep-alive\r\n"), stays},
               {version("1.1", "Upgrade: h2c\r\n"), stays},
               {version("1.1",
                        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
                closes},
               {fields("Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n", "abcd"),
                "PUT /a [abc] closes; "}});
}

TEST(RequestReader, HearsThatAClientWaitsToSendItsBody) {
  const std::string expects = "Expect: 100-continue\r\n";
  expect_rows({{fields(expects + "Content-Length: 3\r\n"), "PUT /a asks ..."},
               {fields(expects + "Content-Length: 3\r\n", "abc"), "PUT /a [abc] stays; "},
               {fields(expects + "Transfer-Encoding: chunked\r\n"), "PUT /a asks ..."},
               {fields("expect: 100-Continue\r\nContent-Length: 3\r\n"), "PUT /a asks ..."},
               {fields(expects + "Content-Length: 0\r\n"), "PUT /a stays; "},
               {fields("Expect: garbage\r\nContent-Length: 3\r\n"), "PUT /a ..."}});
}

TEST(RequestReader, RefusesWhatReadersDifferOver) {
  expect_rows({{fields("X:" + std::string(5000, ' ') + "1\r\n"), "431"},
               {chunks("3\r\nabc\r\n0\r\nX : 1\r\n\r\n"), "400"},
               {chunks("0\r\nContent-Length: 3\r\n\r\n"), "400"},
               {chunks("3;\r\nabc\r\n0\r\n\r\n"), "400"},
               {chunks("3;" + std::string(5000, 'a') + "\r\nabc\r\n0\r\n\r\n"), "431"},
               {line("CONNECT /a HTTP/1.1"), "400"},
               {line("SOURCE /a HTTP/1.1"), "400"},
               {line("GET http://h@h@h/a HTTP/1.1"), "400"},
               {fields("Connection: keep-alive;q=1\r\n"), "400"}});
}

TEST(RequestReader, ReadsWhatItsCallersSayOfThemselves) {
  RequestReader reader(kLimits);
  reader.feed(
      "POST /a HTTP/1.1\r\nhost: h:1\r\nAUTHORIZATION: Bearer t \r\nMuster-Caller: ann\r\n"
      "Idempotency-Key: 7\r\nMuster-Sent:\t2\r\n\r\n");
  EXPECT_EQ(reader.head().host, "h:1");
  EXPECT_EQ(reader.head().authorization, "Bearer t");
  EXPECT_EQ(reader.head().caller, "ann");
  EXPECT_EQ(reader.head().number, "7");
  EXPECT_EQ(reader.head().sent, "2");
}

TEST(RequestReader, AnswersRequestsThatComeTogetherOneByOne) {
  expect_rows({{kNext + kNext + kNext, "GET /b stays; GET /b stays; GET /b stays; "},
               {kNext + "x", "GET /b stays; 400"},
               {chunks("0\r\n\r\n") + kNext + chunks("3\r\nabc\r\n0\r\n\r\n"),
                "PUT /a stays; GET /b stays; PUT /a [abc] stays; "}});
}

}  // namespace
}  // namespace muster::api
