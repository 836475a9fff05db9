// Outputs of tasks that are listed and fetched over the API of files, into folders that are new,
// empty, or in somebody's use.

#include "tools/client/fetching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/files/folder_scan.hpp"
#include "tests/support/golden.hpp"
#include "tests/tools/client/fake_files_api.hpp"
#include "tools/client/bytes_text.hpp"

namespace muster::client {
namespace {

namespace fs = std::filesystem;
using files::ContentId;
using muster::test::IsGolden;
using testing::ElementsAre;
using testing::IsEmpty;

class FetchingTest : public testing::Test {
 protected:
  FetchingTest() { order_ = {7, {}, to_ / "out", false, {}}; }

  /// Puts the files of the folder into the store, as a task's outputs.
  void keep(const files::StagedFolder& from) {
    files::ObjectBatch batch(api_.user().contents());
    const auto scanned = files::valid(files::scan_folder(from.open().get(), batch));
    order_.tree = api_.put(scanned.tree.encode());
  }
  void add_outputs(std::uint32_t task, std::uint32_t attempt) {
    files::Outputs outputs{{task, attempt}, ContentId::of("tree"), 3, 5, 1'790'000'000, 1};
    ASSERT_FALSE(api_.user().outputs().put(7, outputs));
  }
  /// "task.attempt" of each.
  std::vector<std::string> listed(const OutputsWish& wish) {
    const auto outputs = list_outputs(*api_.client(), wish);
    if (!outputs) return {outputs.error().message};
    std::vector<std::string> all;
    for (const TaskOutputs& one : outputs.value()) {
      all.push_back(fmt::format("{}.{}", one.task, one.attempt));
    }
    return all;
  }
  Expected<Fetched, FetchError> fetch() { return fetch_tree(*api_.client(), order_); }
  std::string failure(FetchError code) {
    const auto fetched = fetch();
    if (fetched) return "it was fetched";
    EXPECT_EQ(fetched.error().code, code) << fetched.error().message;
    return fetched.error().message;
  }
  /// Names in the folder above the target.
  std::vector<std::string> beside() const {
    return files::valid(files::names_in(to_.open().get(), 100, "to"));
  }

  FakeFilesApi api_;
  files::StagedFolder from_, to_;
  FetchOrder order_;
};

TEST_F(FetchingTest, ListsTheLatestAttemptsOverAllPages) {
  api_.outputs_at_once = 2;
  for (const auto& [task, attempt] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0, 1}, {0, 2}, {1, 1}, {2, 1}, {2, 3}, {1200, 1}}) {
    add_outputs(task, attempt);
  }
  EXPECT_THAT(listed({7}), ElementsAre("0.2", "1.1", "2.3", "1200.1"));
  EXPECT_THAT(listed({.job = 7, .all = true}),
              ElementsAre("0.1", "0.2", "1.1", "2.1", "2.3", "1200.1"));
  EXPECT_THAT(listed({.job = 7, .task = 2}), ElementsAre("2.3"));
  EXPECT_THAT(listed({.job = 7, .task = 2, .all = true}), ElementsAre("2.1", "2.3"));
  EXPECT_THAT(listed({.job = 7, .attempt = 1}), ElementsAre("0.1", "1.1", "2.1", "1200.1"));
  EXPECT_THAT(listed({.job = 7, .task = 5}), IsEmpty());
  EXPECT_THAT(listed({8}), ElementsAre("no such job"));
  const auto one = list_outputs(*api_.client(), {.job = 7, .task = 1});
  ASSERT_TRUE(one);
  const TaskOutputs expected{1, 1, ContentId::of("tree"), 3, 5, 1'790'000'000, 1};
  EXPECT_EQ(one->front(), expected);
}

TEST_F(FetchingTest, TakesNoListThatTurnsInACircle) {
  const std::string page = fmt::format(
      R"({{"outputs": [{{"task": 0, "attempt": 1, "tree": "{}", "files": 1, "bytes": 1,
          "kept_s": 1, "skipped": 0}}], "next": "0.1"}})",
      ContentId::of("tree").text());
  api_.before = [&](const FilesRequest&) { return test::reply_of(200, page); };
  EXPECT_THAT(listed({7}).front(), IsGolden());
  api_.before = [](const FilesRequest&) {
    return test::reply_of(200, R"({"outputs": [], "next": "0.1"})");
  };
  EXPECT_THAT(listed({7}).front(), IsGolden());
  api_.before = [](const FilesRequest&) {
    return test::reply_of(200, R"({"outputs": [{"task": 0, "attempt": 1, "tree": "", "files": 1,
                                   "bytes": 1, "kept_s": 1}], "next": null})");
  };
  EXPECT_THAT(listed({7}).front(), IsGolden());
}

TEST_F(FetchingTest, MakesTheFolderWithModesAndLinks) {
  from_.file("a/b.txt", "one").file("run", "two").link("latest", "a/b.txt").file("empty", "");
  from_.file("large", std::string(6'000'000, 'x'));
  fs::permissions(from_ / "run", fs::perms{0755});
  keep(from_);
  order_.target = to_ / "new" / "out";
  const auto fetched = fetch();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->files, 4U);
  EXPECT_EQ(fetched->bytes, 6'000'006U);
  EXPECT_FALSE(fetched->was_there);
  EXPECT_EQ(to_.text("new/out/a/b.txt"), "one");
  EXPECT_EQ(to_.text("new/out/large"), std::string(6'000'000, 'x'));
  EXPECT_EQ(fs::status(order_.target / "run").permissions(), fs::perms{0755});
  EXPECT_EQ(fs::read_symlink(order_.target / "latest"), "a/b.txt");
  const mode_t umask_now = umask(0);
  umask(umask_now);
  EXPECT_EQ(fs::status(order_.target).permissions(), fs::perms{0755 & ~umask_now});
  EXPECT_THAT(files::valid(
                  files::names_in(files::valid(files::open_folder(to_ / "new")).get(), 100, "new")),
              ElementsAre("out"));
}

TEST_F(FetchingTest, LeavesAFolderThatHoldsTheTree) {
  from_.file("a", "one").file("b/c", "two");
  fs::permissions(from_ / "a", fs::perms{0444});
  keep(from_);
  ASSERT_TRUE(fetch());
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(order_.target.c_str(), &before), 0);
  const auto again = fetch();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->was_there);
  ASSERT_EQ(stat(order_.target.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(FetchingTest, ReplacesAnEmptyFolder) {
  from_.file("a", "one");
  keep(from_);
  fs::create_directory(to_ / "out");
  ASSERT_TRUE(fetch());
  EXPECT_EQ(to_.text("out/a"), "one");
  EXPECT_THAT(beside(), ElementsAre("out"));
}

TEST_F(FetchingTest, ReplacesOtherFilesOnlyByForce) {
  from_.file("a", "one");
  keep(from_);
  for (const char* name : {"out/a", "out/sub/other"}) {
    to_.file(name, "ONE");
    EXPECT_THAT(failure(FetchError::target), IsGolden());
    EXPECT_EQ(to_.text(name), "ONE");
  }
  order_.force = true;
  const auto fetched = fetch();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->not_removed, "");
  EXPECT_EQ(to_.text("out/a"), "one");
  EXPECT_FALSE(fs::exists(to_ / "out/sub"));
  EXPECT_THAT(beside(), ElementsAre("out"));
}

TEST_F(FetchingTest, RefusesLinksAndFilesInThePlaceOfTheFolder) {
  from_.file("a", "one");
  keep(from_);
  order_.force = true;
  fs::create_directory(to_ / "elsewhere");
  to_.link("out", "elsewhere");
  EXPECT_THAT(failure(FetchError::target), IsGolden());
  order_.target = to_ / "out/";
  EXPECT_THAT(failure(FetchError::target), IsGolden());
  EXPECT_TRUE(fs::is_empty(to_ / "elsewhere"));
  to_.file("file");
  order_.target = to_ / "file";
  EXPECT_THAT(failure(FetchError::target), IsGolden());
  order_.target = to_ / "file" / "out";
  EXPECT_THAT(failure(FetchError::target), IsGolden());
  order_.target = "/";
  EXPECT_THAT(failure(FetchError::target), IsGolden());
}

TEST_F(FetchingTest, DoesNotReplaceTheCurrentFolder) {
  from_.file("a", "one");
  keep(from_);
  order_.target = ".";
  order_.force = true;
  const fs::path before = fs::current_path();
  fs::create_directory(to_ / "here");
  fs::current_path(to_ / "here");
  const std::string message = failure(FetchError::target);
  fs::current_path(before);
  EXPECT_THAT(message, IsGolden());
  EXPECT_THAT(beside(), ElementsAre("here"));
}

TEST_F(FetchingTest, RefusesADamagedContentAndLeavesNothing) {
  from_.file("a", "first").file("b", "second");
  keep(from_);
  to_.file("out/mine", "mine");
  order_.force = true;
  for (const char* other : {"SECOND", "longer than it", "less"}) {
    api_.before = [&](const FilesRequest& request) -> std::string {
      if (request.of("id") != ContentId::of("second").text()) return "";
      return test::reply_of(200, other);
    };
    EXPECT_FALSE(fetch()) << other;
    EXPECT_THAT(beside(), ElementsAre("out")) << other;
    EXPECT_EQ(to_.text("out/mine"), "mine");
  }
  api_.before = [](const FilesRequest& request) -> std::string {
    return request.of("id") == ContentId::of("second").text() ? test::reply_of(200, "SECOND") : "";
  };
  EXPECT_THAT(failure(FetchError::damaged), IsGolden());
}

TEST_F(FetchingTest, RefusesListsOfFilesThatNoStoreMakes) {
  const std::string content = ContentId::of("x").text();
  for (const std::string& text : {std::string("no tree"), std::string(),
                                  fmt::format("muster-tree 1 1\nf 644 1 {} ../out\n", content),
                                  fmt::format("muster-tree 1 1\nf 644 1 {} /etc/passwd\n", content),
                                  std::string("muster-tree 1 1\nl out\t../../etc\n")}) {
    order_.tree = api_.put(text);
    EXPECT_THAT(failure(FetchError::damaged), IsGolden());
  }
  api_.before = [](const FilesRequest&) { return test::reply_of(200, "another"); };
  EXPECT_THAT(failure(FetchError::damaged), IsGolden());
  EXPECT_THAT(beside(), IsEmpty());
}

TEST_F(FetchingTest, TellsWhyTheApiGivesNoFiles) {
  from_.file("a", "one");
  keep(from_);
  api_.before = [](const FilesRequest& request) -> std::string {
    if (request.of("id") != ContentId::of("one").text()) return "";
    return test::reply_of(404, R"({"error": {"code": "x", "message": "it is gone"}})");
  };
  EXPECT_THAT(failure(FetchError::cluster), IsGolden());
  order_.job = 8;
  EXPECT_THAT(failure(FetchError::cluster), IsGolden());
}

TEST_F(FetchingTest, EndsWhenItIsToldTo) {
  from_.file("a", "one");
  keep(from_);
  order_.progress = [](const files::UnpackCount&) { return false; };
  failure(FetchError::stopped);
  EXPECT_THAT(beside(), IsEmpty());
}

TEST(BytesText, HasTwoDigitsAtLeast) {
  const std::vector<std::pair<std::uint64_t, std::string>> texts = {
      {0, "0 B"},
      {1023, "1023 B"},
      {1024, "1.0 KiB"},
      {1'258'291, "1.2 MiB"},
      {std::uint64_t{340} << 30, "340 GiB"},
      {(std::uint64_t{1} << 30) - 1, "1.0 GiB"},
      {~std::uint64_t{0}, "16.0 EiB"}};
  for (const auto& [bytes, text] : texts) EXPECT_EQ(bytes_text(bytes), text);
}

}  // namespace
}  // namespace muster::client
