#include "storage/files/user_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "storage/files/content_parts.hpp"
#include "storage/files/folder_scan.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/user_usage.hpp"
#include "tests/storage/files/staged_folder.hpp"
#include "tests/support/golden.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using test::IsGolden;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kMost = 10'000;

class UserFilesTest : public ::testing::Test {
 protected:
  fs::path store() const { return beside_ / "store"; }
  std::unique_ptr<UserFiles> open(const std::string& user = "ann") const {
    EXPECT_FALSE(make_store(store()));
    return valid(UserFiles::open_in(store(), user));
  }
  static ContentId put(UserFiles& files, std::string_view content) {
    ObjectBatch batch(files.contents());
    const ContentId id = valid(batch.put_text(content));
    EXPECT_FALSE(batch.finish());
    return id;
  }
  /// A tree of one file, whose text is in the store.
  static ContentId put_tree(UserFiles& files, const std::string& path, std::string_view content) {
    const FileTree tree = valid(
        FileTree::of({{path, EntryKind::file, 0644, content.size(), ContentId::of(content), {}}}));
    return put(files, tree.encode());
  }
  static StagedTree stage(UserFiles& files, const ContentId& tree) {
    return valid(files.stage(tree, {}, kMost));
  }

  StagedFolder beside_;
};

TEST_F(UserFilesTest, asks_for_a_trees_text_first_and_then_for_its_contents) {
  const auto files = open();
  const ContentId content = ContentId::of("one");
  const FileTree tree = valid(FileTree::of({{"a", EntryKind::file, 0644, 3, content, {}},
                                            {"b", EntryKind::file, 0644, 3, content, {}}}));
  EXPECT_THAT(stage(*files, tree.id()).missing, ElementsAre(tree.id()));
  EXPECT_EQ(put(*files, tree.encode()), tree.id());
  EXPECT_THAT(stage(*files, tree.id()).missing, ElementsAre(content));
  EXPECT_FALSE(valid(files->use_stage(tree.id())));
  put(*files, "one");
  const StagedTree staged = stage(*files, tree.id());
  EXPECT_TRUE(staged.complete);
  EXPECT_THAT(staged.missing, IsEmpty());
  EXPECT_TRUE(valid(files->use_stage(tree.id())));
}

TEST_F(UserFilesTest, names_a_bounded_number_of_missing_contents) {
  const auto files = open();
  std::vector<TreeEntry> entries;
  for (int i = 0; i < 20; ++i) {
    const std::string text = std::to_string(i);
    entries.push_back({text, EntryKind::file, 0644, text.size(), ContentId::of(text), {}});
  }
  const ContentId tree = put(*files, valid(FileTree::of(entries)).encode());
  EXPECT_EQ(valid(files->stage(tree, {}, 7)).missing.size(), 7u);
}

TEST_F(UserFilesTest, gives_no_user_the_contents_of_another) {
  const auto anns = open("ann");
  const ContentId tree = put_tree(*anns, "key", "secret");
  put(*anns, "secret");
  EXPECT_TRUE(stage(*anns, tree).complete);
  const auto bobs = open("bob");
  EXPECT_THAT(stage(*bobs, tree).missing, ElementsAre(tree));
  // Bob knows what is in the tree, and still has to bring the content himself.
  put_tree(*bobs, "key", "secret");
  EXPECT_THAT(stage(*bobs, tree).missing, ElementsAre(ContentId::of("secret")));
  auto reader = valid(UserContents::open_in(store(), "bob"));
  EXPECT_EQ(reader.open_read(ContentId::of("secret")).error().code, FileError::missing);
}

TEST_F(UserFilesTest, gives_each_user_a_folder_of_its_own) {
  std::set<std::string> names;
  const std::vector<std::string> users{"",     ".",      "..",   "a/b",
                                       "%",    "a",      "A",    "a b",
                                       "\xff", "ann%2f", "%h",   std::string(256, 'x'),
                                       "a.b",  "-",      "a\nb", std::string(256, '/')};
  for (const std::string& user : users) {
    const std::string name = file_name_of_user(user);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_of("/."), std::string::npos) << name;
    EXPECT_LE(name.size(), 255u);
    open(user);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(store() / "users"), {}),
            static_cast<std::ptrdiff_t>(users.size()));
}

TEST_F(UserFilesTest, has_a_tree_with_wrong_sizes_refused) {
  const auto files = open();
  const ContentId content = put(*files, "one");
  const FileTree lies = valid(FileTree::of({{"a", EntryKind::file, 0644, 3, content, {}},
                                            {"b", EntryKind::file, 0644, 4, content, {}}}));
  put(*files, lies.encode());
  EXPECT_THAT(files->stage(lies.id(), {}, kMost).error().message, IsGolden());
  const FileTree wrong = valid(FileTree::of({{"a", EntryKind::file, 0644, 4, content, {}}}));
  put(*files, wrong.encode());
  EXPECT_THAT(stage(*files, wrong.id()).missing, ElementsAre(content));
}

TEST_F(UserFilesTest, has_a_text_that_is_no_tree_refused) {
  const auto files = open();
  const ContentId text = put(*files, "no tree");
  EXPECT_EQ(files->stage(text, {}, kMost).error().code, FileError::invalid);
  TreeLimits limits;
  limits.content_bytes = 2;
  const ContentId large = put_tree(*files, "a", "one");
  EXPECT_EQ(files->stage(large, limits, kMost).error().code, FileError::too_large);
}

TEST_F(UserFilesTest, asks_for_a_tree_again_whose_text_was_damaged) {
  const auto files = open();
  const ContentId tree = put_tree(*files, "a", "one");
  const std::string name = tree.text();
  const fs::path object =
      store() / "users/ann/contents/objects" / name.substr(0, 2) / name.substr(2);
  std::ofstream(object, std::ios::app) << "x";
  EXPECT_THAT(stage(*files, tree).missing, ElementsAre(tree));
  put_tree(*files, "a", "one");
  EXPECT_THAT(stage(*files, tree).missing, ElementsAre(ContentId::of("one")));
}

TEST_F(UserFilesTest, remembers_the_trees_of_jobs) {
  const auto files = open();
  const ContentId tree = ContentId::of("tree");
  EXPECT_FALSE(valid(files->pinned(7)));
  EXPECT_FALSE(files->pin(7, tree));
  EXPECT_EQ(valid(open()->pinned(7)), tree);
}

TEST_F(UserFilesTest, refuses_a_store_of_another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  open();
  ASSERT_EQ(chown(store().c_str(), 1234, 1234), 0);
  EXPECT_EQ(UserFiles::open_in(store(), "ann").error().code, FileError::refused);
  EXPECT_EQ(make_store(store())->code, FileError::refused);
}

TEST_F(UserFilesTest, takes_no_folder_for_a_store_that_was_not_made_one) {
  fs::create_directory(store());
  EXPECT_EQ(store_fault(store())->code, FileError::system);
  EXPECT_THAT(store_fault(store())->message, IsGolden());
  EXPECT_EQ(UserFiles::open_in(store(), "ann").error().code, FileError::system);
  EXPECT_TRUE(fs::is_empty(store()));
  std::ofstream(store() / "thesis.tex") << "mine";
  EXPECT_EQ(make_store(store())->code, FileError::refused);
  EXPECT_TRUE(store_fault(beside_ / "nowhere"));
  fs::remove(store() / "thesis.tex");
  open("ann");
  EXPECT_FALSE(store_fault(store()));
}

TEST_F(UserFilesTest, removes_what_is_damaged_of_a_tree_so_that_it_is_sent_again) {
  const auto files = open();
  const ContentId tree = put_tree(*files, "a", "one");
  const ContentId content = put(*files, "one");
  EXPECT_TRUE(stage(*files, tree).complete);
  const std::string name = content.text();
  std::ofstream(store() / "users/ann/contents/objects" / name.substr(0, 2) / name.substr(2))
      << "onE";
  EXPECT_TRUE(stage(*files, tree).complete) << "sizes do not show it";
  EXPECT_FALSE(files->check_stage(tree));
  EXPECT_FALSE(valid(files->use_stage(tree)));
  EXPECT_THAT(stage(*files, tree).missing, ElementsAre(content));
}

TEST_F(UserFilesTest, counts_what_a_user_has) {
  const auto files = open();
  constexpr std::int64_t kNow = 1'000'000;
  constexpr std::uint64_t kMostBytes = 20'000;
  put(*files, "small");
  EXPECT_EQ(valid(bytes_used(*files, kNow)), 4096u);
  put(*files, std::string(10'000, 'x'));
  EXPECT_EQ(valid(bytes_used(*files, kNow + 10)), 4096u) << "the count is young";
  EXPECT_EQ(valid(bytes_used(*files, kNow + 601)), 14'096u);
  EXPECT_EQ(valid(bytes_used(*files, kNow - 5)), 14'096u) << "a count of the future is none";
  EXPECT_FALSE(reserve_bytes(*files, 5000, kMostBytes, kNow));
  const auto full = reserve_bytes(*files, 5000, kMostBytes, kNow);
  EXPECT_EQ(full->code, FileError::no_space);
  EXPECT_THAT(full->message, IsGolden());
  EXPECT_FALSE(reserve_bytes(*files, 900, kMostBytes, kNow));
  // Parts count, and what was reserved and never came does not, from the next count on.
  EXPECT_FALSE(valid(add_part(*files, {ContentId::of("0123"), 4, 0, "01"})).complete);
  EXPECT_EQ(valid(bytes_used(*files, kNow + 2000)), 18'192u);
}

TEST_F(UserFilesTest, closes_the_store_to_others) {
  fs::create_directory(store());
  fs::permissions(store(), fs::perms::all);
  open();
  EXPECT_EQ(fs::status(store()).permissions(), fs::perms::owner_all);
}

TEST_F(UserFilesTest, puts_a_content_together_from_parts) {
  const auto files = open();
  const std::string text = "0123456789";
  const ContentId id = ContentId::of(text);
  const auto add = [&](std::uint64_t offset, std::string_view bytes) {
    return valid(add_part(*files, {id, text.size(), offset, bytes}));
  };
  EXPECT_EQ(add(0, "0123").bytes, 4u);
  // One that came before, and one that comes too early.
  EXPECT_EQ(add(0, "0123").bytes, 4u);
  EXPECT_EQ(add(6, "6789").bytes, 4u);
  EXPECT_FALSE(add(4, "456").complete);
  EXPECT_TRUE(add(7, "789").complete);
  EXPECT_TRUE(add(0, "").complete);
  EXPECT_TRUE(valid(files->contents().keep(id)));
  EXPECT_TRUE(fs::is_empty(store() / "users/ann/parts"));
}

TEST_F(UserFilesTest, drops_parts_that_are_another_content) {
  const auto files = open();
  const ContentId id = ContentId::of("0123");
  EXPECT_FALSE(valid(add_part(*files, {id, 4, 0, "01"})).complete);
  EXPECT_EQ(add_part(*files, {id, 4, 2, "xx"}).error().code, FileError::damaged);
  EXPECT_EQ(valid(add_part(*files, {id, 4, 0, "01"})).bytes, 2u);
  EXPECT_EQ(add_part(*files, {id, 4, 2, "234"}).error().code, FileError::invalid);
  EXPECT_EQ(add_part(*files, {id, 4, 5, ""}).error().code, FileError::invalid);
  EXPECT_EQ(add_part(*files, {id, 4, 2, ""}).error().code, FileError::invalid);
  EXPECT_TRUE(valid(add_part(*files, {id, 4, 2, "23"})).complete);
}

TEST_F(UserFilesTest, reads_without_making_anything) {
  EXPECT_EQ(UserContents::open_in(store(), "ann").error().code, FileError::missing);
  EXPECT_FALSE(fs::exists(store()));
  const auto files = open();
  const ContentId tree = put_tree(*files, "a", "one");
  auto reader = valid(UserContents::open_in(store(), "ann"));
  EXPECT_EQ(paths_in(valid(reader.read_tree(tree))), std::vector<std::string>{"a"});
  EXPECT_EQ(reader.read_tree(ContentId::of("other")).error().code, FileError::missing);
}

}  // namespace
}  // namespace muster::files
