#include "serve/api/tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "serve/api/token_book.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
namespace fs = std::filesystem;

constexpr const char* kGood = "0123456789abcdef";

/// What load_tokens says of a file with the content and the mode.
Expected<std::vector<std::string>, ServerError> load(std::string_view content, int mode = 0600) {
  const test::TempFile file("token", content);
  fs::permissions(file.path(), static_cast<fs::perms>(mode));
  return load_tokens(file.path());
}

TEST(Tokens, are_read_one_a_line) {
  const auto tokens = load("# ann's\n0123456789abcdef\n\nfedcba9876543210\r\n");
  ASSERT_TRUE(tokens.has_value());
  EXPECT_THAT(tokens.value(), ElementsAre(kGood, "fedcba9876543210"));
}

TEST(Tokens, are_for_their_owners_eyes_only) {
  EXPECT_TRUE(load(kGood, 0400).has_value());
  for (const int mode : {0640, 0604, 0660, 0644, 0610}) {
    const auto tokens = load(kGood, mode);
    ASSERT_FALSE(tokens.has_value()) << mode;
    EXPECT_EQ(tokens.error().code, ServerError::bad_token_file);
    EXPECT_THAT(tokens.error().message, HasSubstr("chmod 0600"));
  }
}

TEST(Tokens, have_to_be_their_readers_own_or_roots) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const test::TempFile file("token", kGood);
  fs::permissions(file.path(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(load_tokens(file.path()).has_value());
  ASSERT_EQ(chown(file.path().c_str(), 12345, 12345), 0);
  EXPECT_THAT(message_of(load_tokens(file.path()), ServerError::bad_token_file),
              AllOf(HasSubstr("user 12345"), IsGoldenAt("token")));
}

TEST(Tokens, that_are_none_are_refused_with_their_line) {
  EXPECT_THAT(load("# a\nshort\n").error().message, HasSubstr("token:2: a token has 16 to 256"));
  EXPECT_FALSE(load("0123456789 abcdef\n").has_value());
  EXPECT_FALSE(load(std::string(257, 'a')).has_value());
  EXPECT_THAT(load("# nothing\n").error().message, HasSubstr("holds 0 tokens"));
  EXPECT_THAT(load(std::string(100'000, '\n')).error().message, HasSubstr("is larger than"));
}

TEST(Tokens, have_to_be_in_a_plain_file) {
  EXPECT_FALSE(load_tokens("/nowhere/token").has_value());
  EXPECT_THAT(load_tokens("/").error().message, HasSubstr("plain file"));
}

/// A folder with an API token's file, and a clock that stands still.
class Book : public testing::Test {
 protected:
  std::shared_ptr<TokenBook> open() {
    auto book = TokenBook::open(
        files(), [this] { return now_; },
        [this](const std::string& text) { notes_.push_back(text); });
    EXPECT_TRUE(book.has_value()) << (book ? "" : book.error().message);
    return book ? std::move(book).value() : nullptr;
  }
  TokenBook::Files files() const { return {file_.path(), named()}; }
  fs::path named() const { return file_.folder() / "named-tokens"; }
  std::string content() const {
    std::ifstream in(named());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  /// Writes the file of the named tokens as an editor would.
  void write(const std::string& text) {
    std::ofstream(named()) << text;
    fs::permissions(named(), fs::perms::owner_read | fs::perms::owner_write);
  }
  static std::string bearer(const std::string& secret) { return "Bearer " + secret; }

  const test::TempFile file_{"token", ""};
  std::int64_t now_ = 1'000'000;
  std::vector<std::string> notes_;

  void SetUp() override {
    std::ofstream(file_.path()) << kGood << "\nfedcba9876543210\n";
    fs::permissions(file_.path(), fs::perms::owner_read | fs::perms::owner_write);
  }
};

TEST_F(Book, has_the_lines_of_the_api_tokens_file_as_admins) {
  const auto book = open();
  const Admission first = book->who("Bearer 0123456789abcdef");
  ASSERT_TRUE(first.who);
  EXPECT_EQ(first.who->token, "api-token");
  EXPECT_EQ(first.who->role, Role::admin);
  EXPECT_EQ(first.who->user, "");
  EXPECT_FALSE(first.who->expires_s);
  EXPECT_EQ(book->who("bearer fedcba9876543210").who->token, "api-token-2");
  for (const char* other :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef ", "Bearer  0123456789abcdef", "Bearer 0123456789ABCDEF"}) {
    EXPECT_FALSE(book->who(other).who) << other;
  }
  EXPECT_FALSE(fs::exists(named()));
}

TEST_F(Book, lets_in_whom_it_has_made_a_token_for_until_it_expires) {
  const auto book = open();
  const auto made = book->create({"laptop", Role::user, "ann", 60});
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->secret, SizeIs(7 + 48));
  const Admission admitted = book->who(bearer(made->secret));
  ASSERT_TRUE(admitted.who);
  EXPECT_EQ(admitted.who->token, "laptop");
  EXPECT_EQ(admitted.who->role, Role::user);
  EXPECT_EQ(admitted.who->user, "ann");
  EXPECT_EQ(admitted.who->expires_s, now_ + 60);
  now_ += 60;
  EXPECT_EQ(book->who(bearer(made->secret)).why, "the token 'laptop' has expired");
  EXPECT_EQ(book->rotate("laptop", 0).error().code, TokenError::refused);
}

TEST_F(Book, keeps_digests_alone_in_a_file_for_its_owner) {
  const auto made = open()->create({"ci", Role::read_only});
  ASSERT_TRUE(made.has_value());
  struct stat status {};
  ASSERT_EQ(::stat(named().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_THAT(content(), AllOf(HasSubstr(R"("name":"ci")"), HasSubstr(R"("user":"ci")"),
                               Not(HasSubstr(made->secret))));
  EXPECT_EQ(open()->who(bearer(made->secret)).who->token, "ci");
}

TEST_F(Book, lets_nobody_in_with_a_token_that_is_revoked) {
  const auto book = open();
  const auto made = book->create({"laptop", Role::admin});
  EXPECT_EQ(book->revoke("laptop")->revoked_s, now_);
  now_ += 5;
  EXPECT_EQ(book->revoke("laptop")->revoked_s, now_ - 5);
  EXPECT_EQ(book->who(bearer(made->secret)).why, "the token 'laptop' is revoked");
  EXPECT_EQ(open()->who(bearer(made->secret)).why, "the token 'laptop' is revoked");
  EXPECT_EQ(book->revoke("desktop").error().code, TokenError::unknown);
  EXPECT_THAT(book->revoke("api-token").error().message, HasSubstr("change it there"));
  // The name may be given anew; the first secret stays worthless.
  ASSERT_TRUE(book->create({"laptop", Role::user}).has_value());
  EXPECT_FALSE(book->who(bearer(made->secret)).who);
}

TEST_F(Book, takes_the_secret_from_before_a_rotation_for_a_while) {
  const auto book = open();
  const auto first = book->create({"ci", Role::user});
  const auto second = book->rotate("ci", 100);
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(second->secret, first->secret);
  now_ += 99;
  EXPECT_TRUE(book->who(bearer(first->secret)).who);
  EXPECT_TRUE(open()->who(bearer(first->secret)).who);
  now_ += 1;
  EXPECT_THAT(book->who(bearer(first->secret)).why, AllOf(HasSubstr("'ci'"), IsGolden()));
  EXPECT_TRUE(book->who(bearer(second->secret)).who);
}

TEST_F(Book, keeps_every_secret_that_users_have_through_a_second_rotation) {
  const auto book = open();
  const auto first = book->create({"ci", Role::user});
  const auto second = book->rotate("ci", 100);
  now_ += 40;
  const auto third = book->rotate("ci", 80);
  for (const auto* each : {&first, &second, &third}) {
    EXPECT_TRUE(open()->who(bearer((*each)->secret)).who);
  }
  now_ += 60;
  EXPECT_FALSE(book->who(bearer(first->secret)).who) << "when it was to end";
  EXPECT_TRUE(book->who(bearer(second->secret)).who);
  // An overlap of 0 is for secrets that a thief has.
  const auto fourth = book->rotate("ci", 0);
  for (const auto* each : {&first, &second, &third}) {
    EXPECT_THAT(open()->who(bearer((*each)->secret)).why, IsGolden());
  }
  EXPECT_TRUE(open()->who(bearer(fourth->secret)).who);
}

TEST_F(Book, ends_no_secret_to_make_room_for_another) {
  const auto book = open();
  const auto first = book->create({"ci", Role::user});
  for (std::size_t i = 0; i < kMaxEarlierSecrets; ++i) {
    ASSERT_TRUE(book->rotate("ci", 100).has_value());
  }
  EXPECT_THAT(message_of(book->rotate("ci", 100), TokenError::refused),
              AllOf(HasSubstr("4 earlier"), IsGolden()));
  EXPECT_TRUE(book->who(bearer(first->secret)).who);
  now_ += 100;
  EXPECT_TRUE(book->rotate("ci", 100).has_value());
}

TEST_F(Book, gives_a_request_that_comes_again_a_secret_for_the_one_nobody_saw) {
  const auto first = open()->create({"ci", Role::user, "carl", 500}, {"made", 1});
  // By another API of the folder, or the same after a restart.
  const auto again = open()->create({"ci", Role::user, "carl", 500}, {"made", 2});
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(open()->who(bearer(first->secret)).who);
  EXPECT_TRUE(open()->who(bearer(again->secret)).who);
  const auto lost = open()->rotate("ci", 100, {"turned", 1});
  const auto seen = open()->rotate("ci", 100, {"turned", 2});
  ASSERT_TRUE(seen.has_value());
  now_ += 99;
  EXPECT_TRUE(open()->who(bearer(again->secret)).who) << "its overlap is as it was";
  EXPECT_FALSE(open()->who(bearer(lost->secret)).who);
  EXPECT_TRUE(open()->who(bearer(seen->secret)).who);
  EXPECT_THAT(content(), AllOf(Not(HasSubstr(seen->secret)), Not(HasSubstr(lost->secret))));
}

TEST_F(Book, takes_no_repetition_for_what_it_is_not) {
  const auto book = open();
  const NewToken wish{"ci", Role::user};
  const auto why = [](const auto& refused) { return message_of(refused, TokenError::refused); };
  const auto made = book->create(wish, {"made", 5});
  EXPECT_THAT(why(book->create(wish, {"made", 5})), IsGolden());
  EXPECT_THAT(why(book->create(wish, {"made", 4})), IsGolden());
  EXPECT_THAT(why(book->create({"ci", Role::admin}, {"made", 6})), HasSubstr("was another one"));
  EXPECT_THAT(why(book->rotate("ci", 100, {"made", 6})), HasSubstr("was another one"));
  EXPECT_THAT(why(book->create(wish, {"other", 6})), IsGolden());
  EXPECT_TRUE(book->who(bearer(made->secret)).who) << "none of these has changed anything";
  const auto turned = book->rotate("ci", 100, {"turned", 7});
  EXPECT_THAT(why(book->create(wish, {"made", 8})), IsGolden());
  EXPECT_TRUE(book->who(bearer(turned->secret)).who);
  ASSERT_TRUE(book->revoke("ci").has_value());
  EXPECT_THAT(why(book->create(wish, {"made", 9})), HasSubstr("is revoked"));
  EXPECT_THAT(why(book->rotate("ci", 100, {"turned", 9})), HasSubstr("is revoked"));
  // One that is made anew is none of theirs.
  const auto anew = book->create(wish, {"anew", 10});
  EXPECT_THAT(why(book->create(wish, {"made", 11})), IsGolden());
  EXPECT_TRUE(book->who(bearer(anew->secret)).who);
}

TEST_F(Book, lets_requests_in_while_a_change_waits_for_another_process) {
  const auto book = open();
  const FileLock other(named());
  ASSERT_EQ(other.fault(), "");
  std::atomic<bool> waits{true};
  std::thread change([&] {
    EXPECT_EQ(book->create({"ci", Role::user}).error().code, TokenError::storage);
    waits = false;
  });
  // The lock is held by this very thread: were a look to wait for it, this would not end before.
  int looks = 0;
  for (; looks < 1000; ++looks) EXPECT_TRUE(book->who("Bearer 0123456789abcdef").who);
  EXPECT_TRUE(waits) << "1000 looks in less than the 2 s for which the change waits";
  change.join();
}

TEST_F(Book, gives_a_name_once_and_none_that_could_be_taken_for_another) {
  const auto book = open();
  ASSERT_TRUE(book->create({"ci", Role::user}).has_value());
  EXPECT_EQ(book->create({"ci", Role::admin}).error().code, TokenError::refused);
  EXPECT_EQ(book->create({"api-token", Role::admin}).error().code, TokenError::refused);
  EXPECT_EQ(book->create({"api-token-9", Role::admin}).error().code, TokenError::refused);
  for (const char* name : {"", "a b", "-x", ".x", "a/b", "ä"}) {
    EXPECT_EQ(book->create({name, Role::user, "ann"}).error().code, TokenError::invalid) << name;
  }
  EXPECT_EQ(book->create({"x", Role::user, "a\nb"}).error().code, TokenError::invalid);
}

TEST_F(Book, is_bounded_and_forgets_first_what_is_of_no_use) {
  const auto book = TokenBook::in_memory({}, [this] { return now_; });
  for (std::size_t i = 0; i < kMaxNamedTokens; ++i) {
    ASSERT_TRUE(book->create({"t" + std::to_string(i), Role::user}).has_value());
  }
  EXPECT_THAT(book->create({"more", Role::user}).error().message, HasSubstr("1024 tokens"));
  ASSERT_TRUE(book->revoke("t7").has_value());
  EXPECT_TRUE(book->create({"more", Role::user}).has_value());
  EXPECT_THAT(book->list(), SizeIs(kMaxNamedTokens));
}

TEST_F(Book, sees_at_once_what_another_process_has_changed) {
  const auto here = open();
  const auto there = open();
  const auto made = there->create({"ci", Role::user});
  EXPECT_TRUE(here->who(bearer(made->secret)).who);
  ASSERT_TRUE(here->create({"laptop", Role::user}).has_value());
  EXPECT_THAT(there->list(), SizeIs(4));
  ASSERT_TRUE(there->revoke("ci").has_value());
  EXPECT_FALSE(here->who(bearer(made->secret)).who);
  std::ofstream(file_.path()) << "another-admin-token\n";
  EXPECT_TRUE(here->who("Bearer another-admin-token").who);
  EXPECT_FALSE(here->who("Bearer 0123456789abcdef").who);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(Book, keeps_the_tokens_from_before_when_a_file_becomes_bad) {
  const auto book = open();
  const auto made = book->create({"ci", Role::user});
  const std::string good = content();
  write(good + "{\"name\": \"x\", \"role\": \"boss\"}\n");
  EXPECT_TRUE(book->who(bearer(made->secret)).who);
  EXPECT_TRUE(book->who(bearer(made->secret)).who);
  EXPECT_THAT(notes_, ElementsAre(IsGoldenAt("named-tokens:2: role")));
  // What cannot be read is not written over.
  EXPECT_EQ(book->create({"y", Role::user}).error().code, TokenError::storage);
  EXPECT_THAT(content(), HasSubstr("boss"));
  write(good);
  EXPECT_TRUE(book->create({"y", Role::user}).has_value());
}

TEST_F(Book, names_the_line_and_the_field_that_is_wrong) {
  const std::string digest(64, 'a');
  const auto fault = [&](const std::string& line) {
    write("# made by hand\n" + line + "\n");
    const auto book = TokenBook::open(files(), [] { return std::int64_t{0}; }, {});
    return book ? "good" : message_of(book, ServerError::bad_token_file);
  };
  const auto line = [&](const std::string& change) {
    return R"({"name": "a", "role": "user", "user": "a", "created_s": 1, "sha256": ")" + digest +
           "\"" + change + "}";
  };
  EXPECT_EQ(fault(line("")), "good");
  EXPECT_EQ(
      fault(line(R"(, "expires_s": 5, "earlier": {"sha256": ")" + digest + R"(", "until_s": 4})")),
      "good");
  EXPECT_THAT(fault("a-token"), IsGoldenAt("named-tokens:2"));
  EXPECT_THAT(fault(line(R"(, "colour": 1)")), IsGoldenAt("named-tokens:2: colour"));
  EXPECT_THAT(fault(line(R"(, "expires_s": "soon")")), IsGoldenAt("named-tokens:2: expires_s"));
  EXPECT_THAT(fault(line(R"(, "earlier": {"sha256": "x"})")), HasSubstr("sha256: has to be 64"));
  EXPECT_THAT(fault("{}"), IsGoldenAt("named-tokens:2: name"));
  EXPECT_THAT(fault(line("") + "\n" + line("")), IsGoldenAt("named-tokens:3: name"));
  fs::permissions(named(), fs::perms::owner_read | fs::perms::group_read);
  EXPECT_THAT(TokenBook::open(files(), [] { return std::int64_t{0}; }, {}).error().message,
              HasSubstr("chmod 0600"));
}

TEST_F(Book, changes_nothing_when_the_file_cannot_be_written) {
  const auto book =
      TokenBook::open({file_.path(), "/proc/named-tokens"}, [this] { return now_; }, {});
  ASSERT_TRUE(book.has_value());
  EXPECT_EQ(book.value()->create({"ci", Role::user}).error().code, TokenError::storage);
  EXPECT_THAT(book.value()->list(), SizeIs(2));
}

}  // namespace
}  // namespace muster::api
