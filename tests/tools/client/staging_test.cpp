// Folders that are staged over the API of files: which contents are sent, in which requests, and
// how it ends when files change or the store goes its own way.

#include "tools/client/staging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "storage/files/folder_scan.hpp"
#include "tests/support/golden.hpp"
#include "tests/tools/client/fake_files_api.hpp"
#include "tools/client/tree_upload.hpp"

namespace muster::client {
namespace {

namespace fs = std::filesystem;
using files::ContentId;
using muster::test::IsGolden;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kLargeBytes = 5'000'001;
const char* const kContents = "POST /v1/files/contents";
const char* const kParts = "POST /v1/files/parts";

/// Bytes that differ from place to place.
std::string large_text(std::size_t bytes, char seed = 'a') {
  std::string text(bytes, seed);
  for (std::size_t i = 0; i < text.size(); i += 4096) text.replace(i, 1, 1, char('0' + i % 71));
  return text;
}

class StagingTest : public testing::Test {
 protected:
  Expected<Staged, StageError> stage() {
    return stage_folder(*api_.client(), folder_.path(), options_);
  }
  /// The message of a failure of that kind.
  std::string failure(StageError code) {
    const auto staged = stage();
    if (staged) return "it was staged";
    EXPECT_EQ(staged.error().code, code) << staged.error().message;
    return staged.error().message;
  }
  /// Writes text of that length into the file without a change of its size.
  void overwrite(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  files::StagedFolder folder_;
  FakeFilesApi api_;
  StageOptions options_;
};

TEST_F(StagingTest, SendsAllAtFirstAndThenNothing) {
  folder_.file("a.txt", "one").file("b/c.txt", "two").file("b/empty", "").link("l", "b/c.txt");
  folder_.file("twice", "one");
  const auto first = stage();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->files, 4U);
  EXPECT_EQ(first->bytes, 9U);
  EXPECT_EQ(first->files_sent, 3U) << "a content of two files is sent once";
  EXPECT_EQ(first->bytes_sent, 6U);
  EXPECT_TRUE(files::valid(api_.user().use_stage(first->tree)));
  EXPECT_EQ(api_.contents_taken(), 4) << "the list of the files is a content, too";
  const auto before = api_.requests().size();
  const auto second = stage();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tree, first->tree);
  EXPECT_EQ(second->files_sent, 0U);
  EXPECT_EQ(api_.requests().size(), before + 1) << "a question alone";
}

TEST_F(StagingTest, SendsOnlyTheContentThatIsNew) {
  folder_.file("a", "one").file("b", "two");
  ASSERT_TRUE(stage());
  overwrite("b", "TWO");
  const auto again = stage();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->files_sent, 1U);
  EXPECT_EQ(again->bytes_sent, 3U);
}

TEST_F(StagingTest, AsksAgainWhereTheStoreNamesSomeOfWhatItLacks) {
  api_.most_missing = 2;
  for (int i = 0; i < 7; ++i) folder_.file(fmt::format("f{}", i), fmt::format("text {}", i));
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_EQ(staged->files_sent, 7U);
  EXPECT_THAT(api_.asked(kContents), SizeIs(5)) << "the list, and two contents a time";
}

TEST_F(StagingTest, ReadsNoFileThatItRemembers) {
  const test::TempFile beside("x", "");
  options_.memory = beside.folder();
  folder_.file("a", "one").file("b", "two");
  // As if a scan had begun long after the last change.
  using namespace std::chrono_literals;
  files::ScanMemory memory(std::chrono::sys_days{2200y / 1 / 1});
  files::HashingSink sink;
  files::ScanOptions scan;
  scan.memory = &memory;
  const auto tree = files::valid(files::scan_folder(folder_.open().get(), sink, scan)).tree.id();
  const std::string name = ContentId::of(fs::canonical(folder_.path()).string()).text();
  ASSERT_FALSE(memory.write(options_.memory / name));
  std::uint64_t bytes_read = 1;
  options_.progress = [&](const StageProgress& progress) {
    bytes_read = progress.bytes_read;
    return true;
  };
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_EQ(staged->tree, tree);
  EXPECT_EQ(bytes_read, 0U);
  EXPECT_EQ(staged->files_sent, 2U) << "the store knows nothing yet";
}

TEST_F(StagingTest, KeepsItsMemoryFromOtherUsers) {
  const test::TempFile beside("x", "");
  options_.memory = beside.folder() / "cache" / "stage";
  folder_.file("a", "one");
  ASSERT_TRUE(stage());
  EXPECT_EQ(fs::status(options_.memory).permissions(), fs::perms::owner_all);
  EXPECT_FALSE(fs::is_empty(options_.memory));
}

TEST_F(StagingTest, GoesWithoutAMemoryThatCannotBeWritten) {
  options_.memory = "/proc/no/such/folder";
  folder_.file("a");
  EXPECT_TRUE(stage());
}

TEST_F(StagingTest, SendsFilesOfTheUserThatIsNamed) {
  options_.user = "bob";
  folder_.file("a", "one").file("large", large_text(kLargeBytes));
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_TRUE(files::valid(api_.user("bob").use_stage(staged->tree)));
  EXPECT_FALSE(files::valid(api_.user("ann").use_stage(staged->tree)));
}

TEST_F(StagingTest, LargeFilesGoInParts) {
  folder_.file("large", large_text(kLargeBytes)).file("small");
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_EQ(staged->files_sent, 2U);
  EXPECT_EQ(staged->bytes_sent, kLargeBytes + 4);
  EXPECT_EQ(api_.part_bytes(), kLargeBytes);
  for (const FilesRequest& request : api_.requests()) {
    EXPECT_LE(request.body.size(), TreeUpload::kMostBody);
    if (request.target == kParts) {
      EXPECT_LE(request.body.size(), TreeUpload::kMostPart);
    }
  }
}

TEST_F(StagingTest, ManySmallFilesGoTogether) {
  for (int i = 0; i < 300; ++i) folder_.file(fmt::format("f{}", i), fmt::format("text {}", i));
  ASSERT_TRUE(stage());
  EXPECT_LE(api_.asked(kContents).size(), 20U) << "how many go together depends on their time";
}

TEST_F(StagingTest, GoesOnWhereTheStoreSaysThatPartsEnd) {
  const std::string text = large_text(kLargeBytes);
  folder_.file("large", text);
  const ContentId id = ContentId::of(text);
  // An earlier command has brought the beginning.
  constexpr std::size_t kThere = 3'000'000;
  files::valid(files::add_part(api_.user(), {id, kLargeBytes, 0, text.substr(0, kThere)}));
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_EQ(api_.part_bytes(), PieceSize::kFirst + kLargeBytes - kThere)
      << "the first part finds out what is there";
}

TEST_F(StagingTest, PartsOfAnotherContentAreSentAnew) {
  const std::string text = large_text(kLargeBytes);
  folder_.file("large", text);
  // The beginning of a file that has changed while it was sent.
  const std::string other = large_text(3'000'000, 'z');
  files::valid(files::add_part(api_.user(), {ContentId::of(text), kLargeBytes, 0, other}));
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_TRUE(files::valid(api_.user().contents().keep(ContentId::of(text))));
}

TEST_F(StagingTest, GivesUpOnAStoreThatAlwaysWantsTheFirstPart) {
  folder_.file("large", large_text(kLargeBytes));
  api_.before = [](const FilesRequest& request) -> std::string {
    if (request.target != kParts) return "";
    return test::reply_of(200, R"({"bytes": 0, "complete": false})");
  };
  EXPECT_THAT(failure(StageError::cluster), IsGolden());
  EXPECT_THAT(api_.asked(kParts), SizeIs(TreeUpload::kMostSetbacks + 1));
}

TEST_F(StagingTest, GivesUpOnAStoreThatLosesWhatItTakes) {
  folder_.file("a", "one");
  const std::string lacks =
      fmt::format(R"({{"complete": false, "missing": ["{}"]}})", ContentId::of("one").text());
  api_.before = [&](const FilesRequest& request) -> std::string {
    return request.target == "POST /v1/files/stages" ? test::reply_of(200, lacks) : "";
  };
  EXPECT_THAT(failure(StageError::cluster), IsGolden());
  EXPECT_LE(api_.contents_taken(), TreeUpload::kMostFruitlessAsks + 1);
}

TEST_F(StagingTest, SendsNothingThatIsNotOfTheTree) {
  folder_.file("a", "one");
  api_.before = [](const FilesRequest& request) -> std::string {
    if (request.target != "POST /v1/files/stages") return "";
    return test::reply_of(200, fmt::format(R"({{"complete": false, "missing": ["{}"]}})",
                                           ContentId::of("/etc/passwd").text()));
  };
  EXPECT_THAT(failure(StageError::cluster), IsGolden());
  EXPECT_EQ(api_.contents_taken(), 0);
}

TEST_F(StagingTest, AFileThatChangesIsReadAgain) {
  folder_.file("a", "one").file("large", large_text(kLargeBytes));
  int questions = 0;
  // Between the reading of the folder and the sending of its files.
  api_.before = [&](const FilesRequest& request) -> std::string {
    if (request.target != "POST /v1/files/stages" || ++questions > 1) return "";
    overwrite("a", "two");
    return "";
  };
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_TRUE(files::valid(api_.user().contents().keep(ContentId::of("two"))));
  EXPECT_FALSE(files::valid(api_.user().contents().keep(ContentId::of("one"))));
}

TEST_F(StagingTest, ALargeFileThatChangesBetweenItsPartsIsReadAgain) {
  folder_.file("large", large_text(kLargeBytes));
  const std::string other = large_text(kLargeBytes, 'z');
  int parts = 0;
  api_.before = [&](const FilesRequest& request) -> std::string {
    if (request.target == kParts && ++parts == 1) overwrite("large", other);
    return "";
  };
  const auto staged = stage();
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_TRUE(files::valid(api_.user().contents().keep(ContentId::of(other))));
}

TEST_F(StagingTest, AFileThatDoesNotComeToRestIsNamed) {
  folder_.file("logs/now", "0");
  int questions = 0;
  api_.before = [&](const FilesRequest& request) -> std::string {
    if (request.target == "POST /v1/files/stages")
      overwrite("logs/now", fmt::format("{}", ++questions));
    return "";
  };
  EXPECT_THAT(failure(StageError::changed), IsGolden());
}

TEST_F(StagingTest, AFileThatBecomesALinkIsNotFollowed) {
  const test::TempFile secret("secret", "secret");
  folder_.file("d/a", "secret");
  int questions = 0;
  api_.before = [&](const FilesRequest& request) -> std::string {
    if (request.target != "POST /v1/files/stages" || ++questions > 1) return "";
    fs::remove_all(folder_ / "d");
    fs::create_directory_symlink(secret.folder(), folder_ / "d");
    return "";
  };
  EXPECT_THAT(failure(StageError::folder), IsGolden());
  EXPECT_FALSE(files::valid(api_.user().contents().keep(ContentId::of("secret"))));
}

TEST_F(StagingTest, LeavesOutWhatTheIgnoreFileNames) {
  folder_.file(".musterignore", "*.o\nbuild/\n").file("a.c").file("a.o").file("build/x");
  const auto staged = stage();
  ASSERT_TRUE(staged);
  EXPECT_EQ(staged->files, 2U);
  folder_.file(".musterignore", "a/../b\n");
  EXPECT_THAT(failure(StageError::folder), IsGolden());
}

TEST_F(StagingTest, RefusesEntriesThatNoTreeCanHave) {
  folder_.link("out", "../beside");
  EXPECT_THAT(failure(StageError::folder), IsGolden());
  fs::remove(folder_ / "out");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure(StageError::folder), IsGolden());
  EXPECT_THAT(api_.requests(), IsEmpty());
}

TEST_F(StagingTest, RefusesAFileOrNothingInThePlaceOfAFolder) {
  folder_.file("a");
  for (const char* name : {"a", "missing"}) {
    const auto staged = stage_folder(*api_.client(), folder_ / name);
    ASSERT_FALSE(staged);
    EXPECT_EQ(staged.error().code, StageError::folder);
    EXPECT_THAT(staged.error().message, IsGolden());
  }
}

TEST_F(StagingTest, SendsNothingOfAFolderBeyondTheLimits) {
  options_.limits.entries = 2;
  folder_.file("a").file("b").file("c");
  EXPECT_THAT(failure(StageError::folder), IsGolden());
  EXPECT_THAT(api_.requests(), IsEmpty());
}

TEST_F(StagingTest, TellsTheReasonOfARefusal) {
  folder_.file("a", "one");
  api_.before = [](const FilesRequest& request) -> std::string {
    if (request.target != kContents) return "";
    return test::reply_of(507, R"({"error": {"code": "x", "message": "the store is full"}})");
  };
  EXPECT_THAT(failure(StageError::cluster), IsGolden());
}

TEST_F(StagingTest, EndsWhenItIsToldTo) {
  folder_.file("a");
  options_.progress = [](const StageProgress&) { return false; };
  failure(StageError::stopped);
}

TEST_F(StagingTest, CountsWhatItHasSent) {
  folder_.file("a", "one").file("large", large_text(kLargeBytes));
  StageProgress last;
  options_.progress = [&](const StageProgress& progress) {
    EXPECT_GE(progress.bytes_sent, last.bytes_sent);
    EXPECT_LE(progress.files_sent, progress.files_to_send);
    last = progress;
    return true;
  };
  ASSERT_TRUE(stage());
  EXPECT_EQ(last.files_to_send, 2U);
  EXPECT_EQ(last.files_sent, 2U);
  EXPECT_EQ(last.bytes_sent, last.bytes_to_send);
}

TEST(StageMemoryFolder, IsInTheCacheOfTheUser) {
  std::map<std::string, std::string> set;
  const auto folder = [&] {
    return stage_memory_folder([&](const std::string& name) {
      return set.contains(name) ? std::optional(set[name]) : std::nullopt;
    });
  };
  EXPECT_EQ(folder(), "");
  set["HOME"] = "/users/ann";
  EXPECT_EQ(folder(), "/users/ann/.cache/muster/stage");
  set["XDG_CACHE_HOME"] = "relative";
  EXPECT_EQ(folder(), "/users/ann/.cache/muster/stage");
  set["XDG_CACHE_HOME"] = "/cache";
  EXPECT_EQ(folder(), "/cache/muster/stage");
}

TEST(TreeIds, Are64HexadecimalDigits) {
  EXPECT_TRUE(is_tree_id(std::string(64, 'a')));
  EXPECT_FALSE(is_tree_id(std::string(64, 'A')));
  EXPECT_FALSE(is_tree_id("code"));
  EXPECT_FALSE(is_tree_id(""));
}

}  // namespace
}  // namespace muster::client
