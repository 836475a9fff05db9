#include "storage/files/tree_unpack.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/files/folder_scan.hpp"
#include "storage/files/object_batch.hpp"
#include "tests/storage/files/staged_folder.hpp"
#include "tests/support/golden.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using test::IsGolden;
using test::IsGoldenAt;

class TreeUnpackTest : public ::testing::Test {
 protected:
  FileTree tree_of(const StagedFolder& folder) {
    return valid(scan_folder(folder.open().get(), contents_)).tree;
  }
  FileTrouble unpack(const FileTree& tree) {
    return unpack_tree(tree, to_.open().get(), contents_, options_);
  }
  std::size_t made() const {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(to_.path()), {}));
  }

  StagedFolder from_, to_;
  MemoryContents contents_;
  UnpackOptions options_;
};

TEST_F(TreeUnpackTest, makes_the_folder_that_was_scanned) {
  from_.file("a/b/c.txt", "one").file("a-b", "two").file("run", "").link("latest", "a/b");
  from_.link("a/up", "../run");
  fs::create_directory(from_ / "empty");
  fs::permissions(from_ / "run", fs::perms{0755});
  const FileTree tree = tree_of(from_);
  for (const bool verify : {false, true}) {
    options_.verify = verify;
    EXPECT_FALSE(unpack(tree));
    EXPECT_EQ(tree_of(to_), tree);
    EXPECT_EQ(to_.text("a/b/c.txt"), "one");
    EXPECT_EQ(fs::read_symlink(to_ / "latest"), "a/b");
    for (const auto& entry : fs::directory_iterator(to_.path())) fs::remove_all(entry.path());
  }
}

TEST_F(TreeUnpackTest, lets_the_owner_read_and_write_all_files) {
  from_.file("a");
  fs::permissions(from_ / "a", fs::perms{0444});
  EXPECT_FALSE(unpack(tree_of(from_)));
  EXPECT_EQ(fs::status(to_ / "a").permissions(), fs::perms{0644});
}

TEST_F(TreeUnpackTest, gives_all_to_the_owner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  from_.file("d/a").link("d/l", "a");
  options_.owner = FileOwner{1234, 2345};
  EXPECT_FALSE(unpack(tree_of(from_)));
  for (const char* name : {"d", "d/a", "d/l", "."}) {
    struct stat status {};
    ASSERT_EQ(lstat((to_ / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 1234U) << name;
    EXPECT_EQ(status.st_gid, 2345U) << name;
  }
}

TEST_F(TreeUnpackTest, refuses_a_folder_that_other_users_may_enter) {
  from_.file("a");
  const FileTree tree = tree_of(from_);
  for (const unsigned mode : {0755U, 0710U, 0701U, 0702U, 0720U}) {
    fs::permissions(to_.path(), fs::perms{mode});
    const auto trouble = unpack(tree);
    ASSERT_TRUE(trouble) << mode;
    EXPECT_EQ(trouble->code, FileError::refused) << mode;
    EXPECT_EQ(made(), 0U);
  }
  EXPECT_THAT(unpack(tree)->message, IsGolden());
}

TEST_F(TreeUnpackTest, refuses_a_folder_of_another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  from_.file("a");
  const FileTree tree = tree_of(from_);
  ASSERT_EQ(chown(to_.path().c_str(), 1234, 2345), 0);
  const auto trouble = unpack(tree);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->code, FileError::refused);
  EXPECT_EQ(made(), 0U);
}

TEST_F(TreeUnpackTest, can_be_stopped_while_it_copies_a_file) {
  from_.file("a", std::string(1 << 20, 'x'));
  const FileTree tree = tree_of(from_);
  options_.verify = true;
  options_.progress = [&](const UnpackCount& count) {
    EXPECT_EQ(count.files, 0U);
    return false;
  };
  const auto trouble = unpack(tree);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->code, FileError::stopped);
  EXPECT_EQ(made(), 0U);
}

TEST_F(TreeUnpackTest, leaves_a_folder_alone_that_is_not_empty) {
  from_.file("a");
  to_.file("mine");
  const auto trouble = unpack(tree_of(from_));
  EXPECT_EQ(trouble->code, FileError::exists);
  EXPECT_THAT(trouble->message, IsGolden());
  EXPECT_EQ(made(), 1U);
}

TEST_F(TreeUnpackTest, removes_what_it_made_when_a_content_is_missing) {
  from_.file("a/1").file("a/b/2", "two").file("c/3", "three").link("l", "a");
  const FileTree tree = tree_of(from_);
  contents_.by_id.erase(ContentId::of("three"));
  const auto trouble = unpack(tree);
  EXPECT_EQ(trouble->code, FileError::missing);
  EXPECT_THAT(trouble->message, IsGoldenAt("c/3"));
  EXPECT_EQ(made(), 0U);
}

TEST_F(TreeUnpackTest, removes_what_it_made_but_no_file_of_others) {
  from_.file("a/1").file("b", "two");
  const FileTree tree = tree_of(from_);
  options_.progress = [&](const UnpackCount& count) {
    if (count.files == 1) to_.file("a/theirs");
    return count.files < 2;
  };
  EXPECT_EQ(unpack(tree)->code, FileError::stopped);
  EXPECT_EQ(made(), 2U) << "their file, in its folder";
}

TEST_F(TreeUnpackTest, removes_links_too) {
  from_.file("z/a").link("a", "z").link("z/b", "a");
  const FileTree tree = tree_of(from_);
  options_.progress = [&](const UnpackCount&) {
    // In the way of the last link.
    to_.file("z/b");
    return true;
  };
  const auto trouble = unpack(tree);
  EXPECT_EQ(trouble->code, FileError::exists);
  EXPECT_FALSE(fs::exists(fs::symlink_status(to_ / "a")));
  EXPECT_EQ(to_.text("z/b"), "text") << "the file of another process stays";
}

TEST_F(TreeUnpackTest, notices_contents_that_are_not_as_the_tree_says) {
  from_.file("a", "text");
  const FileTree tree = tree_of(from_);
  contents_.by_id[ContentId::of("text")] = "texts";
  auto trouble = unpack(tree);
  EXPECT_EQ(trouble->code, FileError::damaged);
  EXPECT_THAT(trouble->message, IsGoldenAt("a"));
  contents_.by_id[ContentId::of("text")] = "tent";
  options_.verify = true;
  trouble = unpack(tree);
  EXPECT_EQ(trouble->code, FileError::damaged);
  EXPECT_THAT(trouble->message, IsGoldenAt("a"));
  EXPECT_EQ(made(), 0U);
}

TEST_F(TreeUnpackTest, follows_no_link_that_takes_a_folders_place) {
  from_.file("a/1", "first").file("a/b/2", "second");
  const FileTree tree = tree_of(from_);
  options_.progress = [&](const UnpackCount& count) {
    if (count.files == 1 && !fs::exists(to_ / "moved")) {
      fs::rename(to_ / "a", to_ / "moved");
      to_.link("a", "..");
    }
    return true;
  };
  unpack(tree);
  EXPECT_FALSE(fs::exists(to_.path().parent_path() / "b"));
  EXPECT_TRUE(fs::exists(to_.path().parent_path() / "beside"));
}

TEST_F(TreeUnpackTest, makes_deep_trees) {
  std::vector<TreeEntry> entries;
  std::string path = "d";
  for (int depth = 1; depth <= 256; ++depth, path += "/d") {
    entries.push_back({path, EntryKind::folder});
  }
  const FileTree tree = valid(FileTree::of(entries));
  EXPECT_FALSE(unpack(tree));
  EXPECT_EQ(tree_of(to_), tree);
}

TEST_F(TreeUnpackTest, brings_a_folder_through_a_store_unchanged) {
  from_.file("a/b", std::string(1 << 20, 'x')).file("c", "").file("d", "text").link("e", "a/b");
  const auto store = valid(ObjectFolder::open_in(from_.path().parent_path() / "store"));
  ObjectBatch batch(*store);
  const FileTree tree = valid(scan_folder(from_.open().get(), batch)).tree;
  options_.verify = true;
  EXPECT_FALSE(
      unpack_tree(valid(FileTree::decode(tree.encode())), to_.open().get(), *store, options_));
  EXPECT_EQ(tree_of(to_), tree);
}

RC_GTEST_PROP(TreeUnpackProperty, brings_any_folder_back, ()) {
  const auto files = *rc::gen::container<std::map<std::string, std::string>>(
      rc::gen::element<std::string>("a", "b/a", "b/c/a", "b-c", "d/\n", "e \t\\"),
      rc::gen::arbitrary<std::string>());
  StagedFolder from, to;
  for (const auto& [path, content] : files) from.file(path, content);
  MemoryContents contents;
  const FileTree tree = valid(scan_folder(from.open().get(), contents)).tree;
  RC_ASSERT(!unpack_tree(tree, to.open().get(), contents));
  RC_ASSERT(valid(scan_folder(to.open().get(), contents)).tree == tree);
}

}  // namespace
}  // namespace muster::files
