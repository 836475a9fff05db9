#include "serve/notify/told_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"

namespace muster::notify {
namespace {

using test::IsGolden;

ToldRules rules(const std::vector<std::string>& allow = {}, bool mail = true) {
  return {config::allowed_hosts(allow), mail, [] { return std::string(); }};
}

std::string why(const std::string& address, const ToldRules& by) {
  Job job = test::JobBuilder(1).build();
  job.notify = {address};
  return why_not_told({job}, by).value_or("");
}

TEST(ToldRules, TakePublicWebhooksAndMail) {
  for (const char* address : {"https://example.org/x", "https://8.8.8.8/", "me@example.org"}) {
    EXPECT_EQ(why(address, rules()), "") << address;
  }
  EXPECT_EQ(why_not_told({test::JobBuilder(1).build()}, rules({}, false)), std::nullopt);
}

TEST(ToldRules, RefuseWhatCannotBeSent) {
  for (const char* address : {"https://127.0.0.1/s3cr3t", "https://[::1]/", "http://example.org/",
                              "https://169.254.169.254/latest", "http://8.8.8.8/"}) {
    EXPECT_THAT(why(address, rules()), IsGolden()) << address;
  }
  EXPECT_THAT(why("me@example.org", rules({}, false)), IsGolden());
  ToldRules without = rules();
  without.webhook_fault = [] { return std::string("there is no libcurl"); };
  EXPECT_THAT(why("https://example.org/", without), IsGolden());
}

TEST(ToldRules, TakeWhatTheClusterFileAllows) {
  const ToldRules by = rules({"127.0.0.0/8", "hooks.internal"});
  for (const char* address :
       {"http://127.0.0.1:9/x", "http://hooks.internal/", "http://name.org/"}) {
    EXPECT_EQ(why(address, by), "") << address;
  }
  EXPECT_NE(why("http://10.0.0.1/", by), "");
}

TEST(ToldRules, NameTheJobOfABatch) {
  Job job = test::JobBuilder(1).build();
  job.notify = {"https://10.0.0.1/"};
  EXPECT_THAT(*why_not_told({test::JobBuilder(2).build(), job}, rules()),
              ::testing::StartsWith("/jobs/1/notify"));
}

}  // namespace
}  // namespace muster::notify
