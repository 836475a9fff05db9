#include "serve/notify/mail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temp_file.hpp"

namespace muster::notify {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A program in the place of sendmail, and what it wrote into the file `out` of its folder.
struct MailTest : ::testing::Test {
  std::unique_ptr<test::TempFile> file;

  std::filesystem::path program(const std::string& script) {
    file = std::make_unique<test::TempFile>("sendmail", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file->path(), std::filesystem::perms::owner_all);
    return file->path();
  }
  std::string out() const {
    std::ifstream in(file->folder() / "out");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

TEST_F(MailTest, GivesAddressesAsWordsAndTheMailAsInput) {
  const auto sendmail = program("d=${0%/*}; printf '%s\\n' \"$@\" > $d/out; cat >> $d/out");
  const auto done = send_mail(
      sendmail, {"me@example.org", "muster@example.org", "To: me\n\n.\nFrom x\n"}, seconds{60});
  EXPECT_TRUE(done.arrived) << done.why;
  EXPECT_EQ(out(), "-i\n-f\nmuster@example.org\n--\nme@example.org\nTo: me\n\n.\nFrom x\n");
}

TEST_F(MailTest, SaysThatTheProgramFailed) {
  EXPECT_FALSE(send_mail(program("exit 75"), {"me@example.org", "", "x"}, seconds{60}).arrived);
  EXPECT_FALSE(send_mail("/nowhere/sendmail", {"me@example.org", "", "x"}, seconds{60}).arrived);
}

TEST_F(MailTest, KillsAProgramThatHangs) {
  const auto done =
      send_mail(program("exec sleep 1000"), {"me@example.org", "", "x"}, milliseconds{100});
  EXPECT_FALSE(done.arrived);
}

TEST_F(MailTest, TakesAProgramThatReadsNothingOrSaysMuch) {
  const std::string long_text(1 << 20, 'x');
  EXPECT_TRUE(send_mail(program("exit 0"), {"me@example.org", "", long_text}, seconds{60}).arrived);
  EXPECT_TRUE(send_mail(program("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"),
                        {"me@example.org", "", "x"}, seconds{60})
                  .arrived);
}

TEST_F(MailTest, SendsToNoOption) {
  const auto sendmail = program("touch ${0%/*}/out");
  EXPECT_FALSE(send_mail(sendmail, {"-oQ/tmp@x", "", "x"}, seconds{60}).arrived);
  EXPECT_FALSE(std::filesystem::exists(file->folder() / "out"));
}

}  // namespace
}  // namespace muster::notify
