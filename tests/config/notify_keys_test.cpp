// The addresses that are told of a job's end, as requests say it.

#include "config/notify_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/job_request.hpp"
#include "config/notify_address.hpp"
#include "config/submission.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGoldenAt;
using testing::ElementsAre;

auto read(const std::string& lines) {
  return job_request_from_toml("command = [\"true\"]\n" + lines + "\n", "job.toml");
}

std::vector<std::string> addresses_of(const std::string& notify) {
  const auto request = read("notify = " + notify);
  return request ? request->notify : std::vector<std::string>{"?"};
}

TEST(NotifyKeys, TakeAListOrAText) {
  EXPECT_THAT(addresses_of("[\"me@example.org\", \"https://example.org/a,b\"]"),
              ElementsAre("https://example.org/a,b", "me@example.org"));
  EXPECT_THAT(addresses_of("\"me@example.org, https://example.org/h?x=1,me@example.org\""),
              ElementsAre("https://example.org/h?x=1", "me@example.org"));
}

TEST(NotifyKeys, RefuseWhatIsNoAddress) {
  for (const char* wrong : {"7", "\"\"", "\"me\"", "[\"ftp://a.b\"]", "\"https://\"", "[[]]"}) {
    EXPECT_THAT(test::message_of(read(std::string("notify = ") + wrong), ConfigError::invalid),
                IsGoldenAt("notify"))
        << wrong;
  }
  std::string nine = "[";
  for (int i = 0; i < 9; ++i) nine += "\"u" + std::to_string(i) + "@example.org\",";
  EXPECT_THAT(test::message_of(read("notify = " + nine + "]"), ConfigError::invalid),
              IsGoldenAt("notify"));
}

TEST(NotifyKeys, KnowAddressesOfWebhooks) {
  for (const char* text : {"https://example.org", "https://example.org:8443/a?b=c%20d",
                           "http://127.0.0.1:9/x", "https://[2001:db8::1]:1/", "https://A.B/"}) {
    EXPECT_TRUE(config::parse_hook(text)) << text;
  }
  for (const char* text :
       {"https://user@example.org/", "https://u:p@example.org", "https:///x", "https://a b/",
        "https://a.b/\r\nX: y", "https://a.b:0/", "https://a.b:65536/", "https://a.b:/",
        "https://[::1", "https://[fe80::1%25eth0]/", "https://a.b\\c", "https://a.b/#f",
        "https://a..b/", "HTTPS://a.b/", "https://\xc3\xa4.org/", "file:///etc/passwd",
        "gopher://a.b/", "https://[1.2.3.4]/"}) {
    EXPECT_FALSE(config::parse_hook(text)) << text;
  }
  EXPECT_FALSE(config::parse_hook("https://a.b/" + std::string(config::kLongestNotify, 'x')));
  EXPECT_EQ(config::parse_hook("https://[2001:DB8::1]:1/")->host, "2001:db8::1");
  EXPECT_EQ(config::parse_hook("https://Example.ORG:8443?x")->host, "example.org");
}

TEST(NotifyKeys, KnowAddressesOfMail) {
  for (const char* text : {"me@example.org", "a.b+c@host", "o'hara@x-y.example"}) {
    EXPECT_TRUE(config::is_mail_address(text)) << text;
  }
  for (const char* text :
       {"me", "@example.org", "me@", "-f@example.org", "me@-host", "a b@example.org",
        "me@example.org\nBcc: you@example.org", "me@example.org,you@example.org",
        "<me@example.org>", "\"me\"@example.org", "me@[10.0.0.1]", "me;rm@example.org",
        "me@host name", "m\xc3\xa4@b.c"}) {
    EXPECT_FALSE(config::is_mail_address(text)) << text;
  }
}

TEST(NotifyKeys, SayAfterWhichEnds) {
  const auto on = [](const std::string& word) {
    const auto request = read("notify = \"me@example.org\"\nnotify_on = \"" + word + "\"");
    EXPECT_TRUE(request) << word;
    return request ? make_job(request.value()).notify_on : NotifyOn::end;
  };
  EXPECT_EQ(on("fail"), NotifyOn::fail);
  EXPECT_EQ(on("end"), NotifyOn::end);
  EXPECT_EQ(on("all"), NotifyOn::all);
  EXPECT_EQ(on("fail, end"), NotifyOn::end) << "every end is one of these";
  for (const char* wrong : {"begin", "all,fail", "fail,", ""}) {
    EXPECT_THAT(test::message_of(
                    read(std::string("notify = \"me@example.org\"\nnotify_on = \"") + wrong + "\""),
                    ConfigError::invalid),
                IsGoldenAt("notify_on"))
        << wrong;
  }
  EXPECT_THAT(test::message_of(read("notify_on = \"fail\""), ConfigError::invalid),
              IsGoldenAt("notify_on"));
}

TEST(NotifyKeys, ComeBackFromTheJob) {
  const auto request =
      read("notify = [\"https://example.org/secret\", \"me@example.org\"]\nnotify_on = \"all\"");
  ASSERT_TRUE(request);
  const Job job = make_job(request.value());
  const JobRequest again = request_of(job);
  EXPECT_EQ(again.notify, request->notify);
  EXPECT_EQ(again.notify_on, "all");
}

TEST(NotifyKeys, ShowOfAWebhookItsHostAlone) {
  const auto request =
      read("notify = [\"https://example.org:1/secret?t=s3cr3t\", \"me@example.org\"]");
  ASSERT_TRUE(request);
  const SubmissionView shown = config::shown_submission(make_job(request.value()));
  EXPECT_THAT(shown.job.notify, ElementsAre("https://example.org/...", "me@example.org"));
}

}  // namespace
}  // namespace muster
