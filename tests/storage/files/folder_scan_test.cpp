#include "storage/files/folder_scan.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/storage/files/staged_folder.hpp"
#include "tests/support/golden.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using test::IsGolden;
using test::IsGoldenAt;
using testing::ElementsAre;
using testing::IsEmpty;

class FolderScanTest : public ::testing::Test {
 protected:
  Expected<ScannedFolder, FileError> try_scan() {
    return scan_folder(top_.open().get(), contents_, options_);
  }
  ScannedFolder scan() { return valid(try_scan()); }
  std::vector<std::string> scanned() { return paths_in(scan().tree); }
  FileError code() {
    const auto scanned = try_scan();
    if (scanned) ADD_FAILURE() << "the scan ended well";
    return scanned ? FileError::invalid : scanned.error().code;
  }
  void take_outputs(const std::vector<std::string>& patterns) {
    options_.outputs.emplace();
    for (const std::string& each : patterns) {
      options_.outputs->push_back(valid(PathPattern::compile(each)));
    }
  }
  /// Has its scan hear of the time when it begins; the files of the test are old by then.
  static auto later() {
    return std::chrono::system_clock::time_point::max() - std::chrono::hours{24};
  }

  StagedFolder top_;
  MemoryContents contents_;
  ScanOptions options_;
};

TEST_F(FolderScanTest, finds_files_folders_and_links) {
  top_.file("a/b.txt", "one").file("run", "two").link("latest", "a/b.txt");
  fs::create_directory(top_ / "empty");
  fs::permissions(top_ / "run", fs::perms{0755});
  fs::permissions(top_ / "a/b.txt", fs::perms{0640});
  const ScannedFolder found = scan();
  EXPECT_THAT(paths_in(found.tree), ElementsAre("a", "a/b.txt", "empty", "latest", "run"));
  const auto& entries = found.tree.entries();
  EXPECT_EQ(entries[1], (TreeEntry{"a/b.txt", EntryKind::file, 0640, 3, ContentId::of("one")}));
  EXPECT_EQ(entries[3].target, "a/b.txt");
  EXPECT_EQ(entries[4].mode, 0755);
  EXPECT_EQ(contents_.by_id.at(ContentId::of("two")), "two");
  EXPECT_TRUE(contents_.finished);
  EXPECT_EQ(found.count.files, 2U);
  EXPECT_EQ(found.count.bytes, 6U);
}

TEST_F(FolderScanTest, of_an_empty_folder_is_an_empty_tree) {
  EXPECT_THAT(scanned(), IsEmpty());
}

TEST_F(FolderScanTest, leaves_the_bits_that_give_rights_behind) {
  top_.file("tool");
  ASSERT_EQ(chmod((top_ / "tool").c_str(), 06755), 0);
  EXPECT_EQ(scan().tree.entries()[0].mode, 0755);
}

TEST_F(FolderScanTest, leaves_out_what_is_ignored) {
  top_.file("a.o").file("src/a.c").file("src/a.o").file("build/x/y");
  options_.ignore = valid(IgnoreRules::parse("*.o\nbuild/\n"));
  EXPECT_THAT(scanned(), ElementsAre("src", "src/a.c"));
}

TEST_F(FolderScanTest, takes_outputs_with_the_folders_above_them) {
  top_.file("out/1/best.bin").file("out/2/other").file("in/data").file("log/a/b").file("log.txt");
  take_outputs({"out/*/best.bin", "log", "absent"});
  EXPECT_THAT(scanned(), ElementsAre("log", "log/a", "log/a/b", "out", "out/1", "out/1/best.bin"));
}

TEST_F(FolderScanTest, refuses_entries_that_no_tree_can_have) {
  top_.file("a");
  ASSERT_EQ(mkfifo((top_ / "pipe").c_str(), 0600), 0);
  const auto refused = try_scan();
  EXPECT_EQ(refused.error().code, FileError::refused);
  EXPECT_THAT(refused.error().message, IsGoldenAt("pipe"));
  fs::remove(top_ / "pipe");
  const int socket_file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (top_ / "s").string().copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(bind(socket_file, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_THAT(try_scan().error().message, IsGoldenAt("s"));
  close(socket_file);
}

TEST_F(FolderScanTest, skips_outputs_that_no_tree_can_have_and_says_why) {
  top_.file("out/a").link("out/b", "/etc/passwd").file("out/n\xff");
  ASSERT_EQ(mkfifo((top_ / "out/pipe").c_str(), 0600), 0);
  take_outputs({"out"});
  const ScannedFolder found = scan();
  EXPECT_THAT(paths_in(found.tree), ElementsAre("out", "out/a"));
  EXPECT_EQ(found.skipped_count, 3U);
  std::string said;
  for (const SkippedEntry& each : found.skipped) said += each.path + ": " + each.reason + "\n";
  EXPECT_THAT(said, IsGolden());
}

TEST_F(FolderScanTest, refuses_links_that_lead_out) {
  for (const char* target : {"/etc/passwd", "../beside", "a/../../beside"}) {
    top_.link("way", target);
    EXPECT_EQ(code(), FileError::refused) << target;
    fs::remove(top_ / "way");
  }
  top_.link("way", "../beside");
  EXPECT_THAT(try_scan().error().message, IsGoldenAt("way"));
}

TEST_F(FolderScanTest, shows_the_bytes_of_names_that_are_no_text) {
  top_.file("a\xff\x1b[2J");
  const auto refused = try_scan();
  EXPECT_EQ(refused.error().code, FileError::refused);
  EXPECT_THAT(refused.error().message, IsGoldenAt(R"(a\xff\x1b[2J)"));
}

TEST_F(FolderScanTest, keeps_to_limits) {
  top_.file("a/b/c", "12345").file("d");
  options_.most_deep = 1;
  EXPECT_EQ(code(), FileError::too_large);
  options_.most_deep = 2;
  EXPECT_TRUE(try_scan());
  options_.limits.entries = 3;
  EXPECT_EQ(code(), FileError::too_large);
  options_.limits = {};
  options_.limits.content_bytes = 8;
  EXPECT_EQ(code(), FileError::too_large);
  options_.limits = {};
  options_.limits.manifest_bytes = 8;
  EXPECT_EQ(code(), FileError::too_large);
  options_.limits = {};
  options_.most_looked_at = 3;
  EXPECT_EQ(code(), FileError::too_large);
}

TEST_F(FolderScanTest, reads_no_sparse_file_beyond_the_limit) {
  top_.file("huge");
  ASSERT_EQ(truncate((top_ / "huge").c_str(), off_t{1} << 42), 0);
  EXPECT_EQ(code(), FileError::too_large);
  EXPECT_EQ(contents_.puts, 0);
}

TEST_F(FolderScanTest, reads_a_file_that_changes_again) {
  top_.file("a", "old");
  contents_.before_read = [&] {
    if (contents_.puts == 1) top_.file("a", "newer");
  };
  EXPECT_EQ(scan().tree.entries()[0].content, ContentId::of("newer"));
  EXPECT_EQ(contents_.puts, 2);
}

TEST_F(FolderScanTest, gives_up_a_file_that_never_rests) {
  top_.file("a", "x");
  contents_.before_read = [&] { top_.file("a", std::string(contents_.puts + 1, 'x')); };
  const auto changed = try_scan();
  EXPECT_EQ(changed.error().code, FileError::changed);
  EXPECT_THAT(changed.error().message, IsGoldenAt("a"));
  EXPECT_EQ(contents_.puts, 3);
}

TEST_F(FolderScanTest, skips_an_output_that_never_rests) {
  top_.file("a", "x").file("b");
  contents_.before_read = [&] { top_.file("a", std::string(contents_.puts + 1, 'x')); };
  take_outputs({"*"});
  EXPECT_EQ(scan().skipped_count, 1U);
}

TEST_F(FolderScanTest, ends_when_the_sink_fails_and_skips_no_output_for_that) {
  top_.file("a").file("b");
  take_outputs({"*"});
  for (const int error : {EIO, EROFS, EMFILE, ENOSPC, ENOENT}) {
    contents_.failure = system_failure("an object", "written", error);
    EXPECT_EQ(code(), contents_.failure->code) << error;
  }
  contents_.failure = Failure<FileError>{FileError::refused, "the store takes nothing"};
  EXPECT_EQ(code(), FileError::refused);
  EXPECT_EQ(contents_.puts, 6) << "each scan ends with the first";
  EXPECT_FALSE(contents_.finished);
}

TEST_F(FolderScanTest, ends_without_descriptors_and_skips_no_output_for_that) {
  top_.file("a").file("b");
  take_outputs({"*"});
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  options_.progress = [&](const ScanCount&) {
    const rlimit small{1, before.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &small) == 0;
  };
  const auto found = try_scan();
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, FileError::exhausted);
}

TEST_F(FolderScanTest, counts_the_bytes_of_each_reading_to_its_limit) {
  top_.file("a", "xxxx").file("b", "yyyy");
  contents_.before_read = [&] {
    if (contents_.puts == 1) top_.file("a", "zzzzz");
  };
  options_.limits.content_bytes = 10;
  EXPECT_EQ(code(), FileError::too_large);
}

TEST_F(FolderScanTest, can_be_stopped_while_it_reads_a_file) {
  top_.file("a", std::string(1 << 20, 'x'));
  int heard = 0;
  options_.progress = [&](const ScanCount& count) {
    EXPECT_EQ(count.files, 0U);
    return ++heard < 3;
  };
  take_outputs({"a"});
  EXPECT_EQ(code(), FileError::stopped);
  EXPECT_EQ(heard, 3);
}

TEST_F(FolderScanTest, can_be_stopped_where_it_takes_nothing) {
  top_.file("a/b").file("c");
  take_outputs({"absent"});
  options_.progress = [](const ScanCount&) { return false; };
  EXPECT_EQ(code(), FileError::stopped);
}

TEST_F(FolderScanTest, makes_no_tree_that_cannot_be_decoded) {
  top_.file("a\nb\tc", "1").file("d\\", "2").link("e", "d\\");
  const FileTree tree = scan().tree;
  options_.limits.manifest_bytes = tree.encode().size();
  EXPECT_EQ(scan().tree, valid(FileTree::decode(tree.encode(), options_.limits)));
  --options_.limits.manifest_bytes;
  EXPECT_EQ(code(), FileError::too_large);
}

TEST_F(FolderScanTest, skips_an_output_folder_that_may_not_be_searched) {
  top_.file("out/a").file("out/shut/b");
  fs::permissions(top_.path(), fs::perms{0755});
  fs::permissions(top_ / "out/shut", fs::perms{0444});
  take_outputs({"out"});
  const Descriptor top = top_.open();
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? 65'534 : user), 0) << "root may search each folder";
  const auto found = scan_folder(top.get(), contents_, options_);
  ASSERT_EQ(seteuid(user), 0);
  fs::permissions(top_ / "out/shut", fs::perms{0700});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(paths_in(found->tree), ElementsAre("out", "out/a"));
  ASSERT_EQ(found->skipped_count, 1U);
  EXPECT_THAT(found->skipped[0].reason, IsGolden());
}

TEST_F(FolderScanTest, stays_inside_when_a_folder_becomes_a_link) {
  // While "a" is read, the folder "b" that is already listed becomes a way out.
  top_.file("a").file("b/beside");
  contents_.before_read = [&] {
    fs::remove_all(top_ / "b");
    fs::remove(top_ / "b");
    top_.link("b", "..");
  };
  const auto found = try_scan();
  EXPECT_EQ(found.error().code, FileError::refused);
  for (const auto& [id, content] : contents_.by_id) EXPECT_NE(content, "secret");
}

TEST_F(FolderScanTest, leaves_out_files_that_went_meanwhile) {
  top_.file("a").file("b");
  contents_.before_read = [&] { fs::remove(top_ / "b"); };
  EXPECT_THAT(scanned(), ElementsAre("a"));
}

TEST_F(FolderScanTest, takes_hard_links_for_files) {
  top_.file("a");
  fs::create_hard_link(top_ / "a", top_ / "b");
  EXPECT_THAT(scanned(), ElementsAre("a", "b"));
}

TEST_F(FolderScanTest, can_be_stopped) {
  top_.file("a").file("b");
  std::vector<std::uint64_t> heard;
  options_.progress = [&](const ScanCount& count) {
    heard.push_back(count.files);
    return count.files == 0;
  };
  EXPECT_EQ(code(), FileError::stopped);
  EXPECT_THAT(heard, ElementsAre(0U, 0U, 1U)) << "its entry, its bytes, the file";
}

TEST_F(FolderScanTest, reads_only_the_files_that_its_memory_does_not_know) {
  top_.file("a", "1").file("b", "2");
  const fs::path file = top_.path().parent_path() / "memory";
  const auto scan_with_memory = [&] {
    ScanMemory memory = ScanMemory::read(file, later());
    options_.memory = &memory;
    const ScannedFolder found = scan();
    EXPECT_FALSE(memory.write(file));
    return found;
  };
  const FileTree first = scan_with_memory().tree;
  EXPECT_EQ(contents_.puts, 2);
  EXPECT_EQ(scan_with_memory().tree, first);
  EXPECT_EQ(contents_.puts, 2) << "nothing was read";
  top_.file("b", "3");
  EXPECT_NE(scan_with_memory().tree, first);
  EXPECT_EQ(contents_.puts, 3);
  contents_.by_id.erase(ContentId::of("1"));
  scan_with_memory();
  EXPECT_EQ(contents_.puts, 4) << "the sink has lost it";
}

TEST_F(FolderScanTest, enters_no_mount) {
  // A process' own folder of the kernel is a mount wherever tests run.
  take_outputs({"proc/version"});
  options_.most_looked_at = 100'000;
  const auto found = scan_folder(valid(open_folder("/")).get(), contents_, options_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->skipped_count, 1U);
  EXPECT_THAT(found->skipped[0].reason, IsGolden());
}

}  // namespace
}  // namespace muster::files
