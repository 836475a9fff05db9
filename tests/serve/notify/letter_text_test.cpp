#include "serve/notify/letter_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.hpp"

namespace muster::notify {
namespace {

using test::IsGolden;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Instant kAt{std::chrono::seconds{1'764'400'000}};

Letter letter_of(decltype(Letter::what) what) {
  return {"17-end-0a1b2c3d", "ann", "me@example.org", kAt, std::move(what)};
}
Letter job_letter(std::string name) {
  return letter_of(JobIsOver{JobId{17}, std::move(name), {JobOutcome::failed, 3, kAt}});
}

TEST(LetterText, IsAJsonDocument) {
  EXPECT_THAT(json_of(job_letter("train"), "lab"), IsGolden());
  EXPECT_THAT(json_of(letter_of(JobIsOver{JobId{18}, "x", {std::nullopt, 0, kAt}}), "lab"),
              IsGolden());
  EXPECT_THAT(json_of(letter_of(JobsAreOver{JobId{17}, 4, 2, 1, 1}), "lab"), IsGolden());
  Letter cap = letter_of(CapIsNear{"2025-11-29", 81.5, 100});
  cap.user.clear();
  EXPECT_THAT(json_of(cap, "lab"), IsGolden());
}

TEST(LetterText, IsAMail) {
  EXPECT_THAT(mail_of(job_letter("train"), "lab", "muster@example.org"), IsGolden());
  EXPECT_THAT(mail_of(letter_of(JobsAreOver{JobId{17}, 4, 2, 1, 1}), "lab", ""), IsGolden());
  EXPECT_THAT(mail_of(letter_of(CapIsNear{"2025-11-29", 81.5, 100}), "lab", ""), IsGolden());
}

TEST(LetterText, LetsNoNameOfAJobIntoTheHeadersOfAMail) {
  const std::string mail =
      mail_of(job_letter("x\r\nBcc: you@example.org\r\n\r\n.\r\n"), "lab", "muster@example.org");
  const std::string head = mail.substr(0, mail.find("\n\n"));
  EXPECT_THAT(head, Not(HasSubstr("Bcc")));
  EXPECT_THAT(mail, Not(HasSubstr("\nBcc")));
  EXPECT_THAT(mail, Not(HasSubstr("\r")));
  EXPECT_THAT(mail, Not(HasSubstr("\n.\n")));
}

TEST(LetterText, IsJsonWhateverBytesANameHas) {
  const auto read = nlohmann::json::parse(json_of(job_letter("\xff\"\n"), "lab"), nullptr, false);
  ASSERT_FALSE(read.is_discarded());
  EXPECT_EQ(read["job"], 17);
}

// Test case 2 of RFC 4231.
TEST(Signature, IsHmacSha256) {
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(signature_of("Jefe", 12, "body"), "t=12,v1=" + hmac_sha256("Jefe", "12.body"));
  EXPECT_NE(key_of_user("cluster", "ann"), key_of_user("cluster", "bob"));
}

}  // namespace
}  // namespace muster::notify
