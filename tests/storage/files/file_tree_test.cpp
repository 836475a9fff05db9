#include "storage/files/file_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/golden.hpp"

namespace muster::files {
namespace {

using test::IsGolden;
using testing::ElementsAre;

TreeEntry folder_at(const std::string& path) {
  return {path, EntryKind::folder};
}
TreeEntry file_at(const std::string& path, const std::string& content = "text") {
  return {path, EntryKind::file, 0644, content.size(), ContentId::of(content)};
}
TreeEntry link_at(const std::string& path, const std::string& target) {
  return {path, EntryKind::link, 0, 0, {}, target};
}

std::vector<std::string> paths_of(const FileTree& tree) {
  std::vector<std::string> paths;
  for (const TreeEntry& entry : tree.entries()) paths.push_back(entry.path);
  return paths;
}

FileTree sample() {
  return FileTree::of({link_at("latest", "data/a-b"), file_at("data/a-b"), folder_at("data"),
                       file_at("data/a/in.csv", "1,2"), folder_at("data/a"),
                       file_at("odd\tname\n\\", "")})
      .value();
}

TEST(FileTreeTest, has_all_of_a_folder_right_behind_it) {
  EXPECT_THAT(paths_of(sample()), ElementsAre("data", "data/a", "data/a/in.csv", "data/a-b",
                                              "latest", "odd\tname\n\\"));
  EXPECT_EQ(sample().content_bytes(), 7U);
  EXPECT_EQ(sample().contents().size(), 3U);
}

TEST(FileTreeTest, is_written_as_lines) {
  EXPECT_THAT(sample().encode(), IsGolden());
  EXPECT_EQ(FileTree{}.encode(), "muster-tree 1 0\n");
  EXPECT_EQ(FileTree::decode("muster-tree 1 0\n").value(), FileTree{});
  EXPECT_EQ(FileTree::decode(sample().encode()).value(), sample());
}

TEST(FileTreeTest, is_one_text_in_whichever_order_and_with_whichever_unused_fields_it_is_made) {
  TreeEntry folder = folder_at("a");
  folder.mode = 0777;
  folder.bytes = UINT64_MAX;
  folder.target = "x";
  EXPECT_EQ(FileTree::of({file_at("a/b"), folder}).value().id(),
            FileTree::of({folder_at("a"), file_at("a/b")}).value().id());
}

TEST(FileTreeTest, has_no_path_that_leads_elsewhere) {
  const std::string part(255, 'a');
  std::string deep = "a";
  for (int depth = 1; depth < 256; ++depth) deep += "/a";
  EXPECT_FALSE(path_fault(deep));
  EXPECT_FALSE(path_fault(part));
  for (const std::string& bad :
       {std::string{}, std::string("/etc/passwd"), std::string("a//b"), std::string("a/"),
        std::string("."), std::string("../a"), std::string("a/../b"), std::string("a/./b"),
        std::string("a\0b", 3), std::string("a\xff"), part + "a", deep + "/a"}) {
    const auto fault = path_fault(bad);
    ASSERT_TRUE(fault) << bad;
    EXPECT_EQ(fault->code, FileError::invalid);
    EXPECT_THAT(fault->message, IsGolden());
  }
  EXPECT_TRUE(path_fault(std::string(4097, 'a')));
}

TEST(FileTreeTest, has_no_link_that_leads_out) {
  for (const char* good : {"b", "../x", "../../y/z", ".", "./b", "../..", "b//c"}) {
    EXPECT_FALSE(link_fault("a/b/c", good)) << good;
  }
  for (const std::string& bad :
       {std::string{}, std::string("/etc"), std::string("../../../a"), std::string("x/.."),
        std::string("a\0", 2), std::string("\xff"), std::string(4096, 'a')}) {
    const auto fault = link_fault("a/b/c", bad);
    ASSERT_TRUE(fault) << bad;
    EXPECT_EQ(fault->code, FileError::invalid);
  }
  EXPECT_THAT(link_fault("a", "..")->message, IsGolden());
  EXPECT_THAT(link_fault("a", "b/../..")->message, IsGolden());
}

TEST(FileTreeTest, has_every_folder_and_no_path_twice) {
  const auto fault_of = [](std::vector<TreeEntry> entries) {
    const auto tree = FileTree::of(std::move(entries));
    return tree ? "" : tree.error().message;
  };
  EXPECT_THAT(fault_of({file_at("a/b")}), IsGolden());
  EXPECT_THAT(fault_of({file_at("a"), file_at("a/b")}), IsGolden());
  EXPECT_THAT(fault_of({link_at("a", "x"), file_at("a/b")}), IsGolden());
  EXPECT_THAT(fault_of({folder_at("a"), file_at("a/b/c")}), IsGolden());
  EXPECT_THAT(fault_of({folder_at("a"), file_at("a")}), IsGolden());
  TreeEntry setuid = file_at("a");
  setuid.mode = 04755;
  EXPECT_THAT(fault_of({setuid}), IsGolden());
}

TEST(FileTreeTest, keeps_to_limits) {
  TreeLimits few;
  few.entries = 1;
  few.content_bytes = 4;
  few.manifest_bytes = 120;
  EXPECT_TRUE(FileTree::of({file_at("a")}, few));
  EXPECT_EQ(FileTree::of({file_at("a"), file_at("b", "")}, few).error().code, FileError::too_large);
  EXPECT_EQ(FileTree::of({file_at("a", "12345")}, few).error().code, FileError::too_large);
  TreeEntry huge = file_at("b");
  huge.bytes = UINT64_MAX;
  EXPECT_EQ(FileTree::of({file_at("a"), huge}).error().code, FileError::too_large);
  EXPECT_EQ(FileTree::decode(std::string(121, 'a'), few).error().code, FileError::too_large);
}

TEST(FileTreeTest, names_the_line_of_a_wrong_manifest) {
  const std::string id = ContentId::of("text").text();
  for (const std::string& bad : {std::string{},
                                 std::string("muster-tree 2 0\n"),
                                 std::string("muster-tree 1 x\n"),
                                 std::string("muster-tree 1 0"),
                                 std::string("muster-tree 1 00\n"),
                                 std::string("muster-tree 1 1\n"),
                                 std::string("muster-tree 1 0\nd a\n"),
                                 std::string("muster-tree 1 1\nd a"),
                                 std::string("muster-tree 1 1\nx a\n"),
                                 std::string("muster-tree 1 1\n\n"),
                                 std::string("muster-tree 1 1\nd ../a\n"),
                                 std::string("muster-tree 1 1\nd a\\x\n"),
                                 std::string("muster-tree 1 2\nd b\nd a\n"),
                                 std::string("muster-tree 1 1\nl a b\n"),
                                 std::string("muster-tree 1 1\nl a\t/b\n"),
                                 "muster-tree 1 1\nf 4755 4 " + id + " a\n",
                                 "muster-tree 1 1\nf 644 04 " + id + " a\n",
                                 "muster-tree 1 1\nf 644 -4 " + id + " a\n",
                                 "muster-tree 1 1\nf 644 99999999999999999999 " + id + " a\n",
                                 "muster-tree 1 1\nf 644 4 " + id.substr(1) + " a\n",
                                 "muster-tree 1 1\nf 644 4 " + id + "\n"}) {
    const auto tree = FileTree::decode(bad);
    ASSERT_FALSE(tree) << bad;
    EXPECT_EQ(tree.error().code, FileError::invalid);
    EXPECT_THAT(tree.error().message, IsGolden());
  }
}

FileTree tree_with(const std::vector<std::string>& files) {
  std::map<std::string, TreeEntry> entries;
  for (const std::string& path : files) {
    for (auto at = path.find('/'); at != path.npos; at = path.find('/', at + 1)) {
      entries[path.substr(0, at)] = folder_at(path.substr(0, at));
    }
    entries[path] = path.size() % 3 != 0 ? file_at(path, path) : link_at(path, "../" + path);
  }
  std::vector<TreeEntry> list;
  for (const auto& [path, entry] : entries) list.push_back(entry);
  const auto tree = FileTree::of(list);
  RC_ASSERT(tree.has_value());
  return tree.value();
}

/// A tree with names that are hard to write.
FileTree arbitrary_tree() {
  const auto name =
      rc::gen::resize(8, rc::gen::nonEmpty(rc::gen::container<std::string>(
                             rc::gen::element('a', 'b', '-', ' ', '\n', '\t', '\\'))));
  const auto path = rc::gen::map(rc::gen::tuple(name, name, name), [](const auto& names) {
    return std::get<0>(names) + "/" + std::get<1>(names) + "/" + std::get<2>(names);
  });
  return tree_with(*rc::gen::container<std::vector<std::string>>(path));
}

RC_GTEST_PROP(FileTreeTest, is_read_back_from_its_text, ()) {
  const FileTree tree = arbitrary_tree();
  const auto read = FileTree::decode(tree.encode());
  RC_ASSERT(read.has_value());
  RC_ASSERT(read.value() == tree);
}

RC_GTEST_PROP(FileTreeTest, has_no_second_text, ()) {
  std::string text = arbitrary_tree().encode();
  const auto changes = *rc::gen::inRange(1, 4);
  for (int change = 0; change < changes; ++change) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto byte = *rc::gen::oneOf(rc::gen::element('\n', '\t', '\\', '/', '.', '0', ' '),
                                      rc::gen::arbitrary<char>());
    if (*rc::gen::arbitrary<bool>()) text.erase(at, 1);
    if (*rc::gen::arbitrary<bool>()) text.insert(std::min(at, text.size()), 1, byte);
  }
  // Read or refused: a text that is read is the one that the tree is written as.
  const auto read = FileTree::decode(text);
  RC_ASSERT((!read || read.value().encode() == text));
}

RC_GTEST_PROP(FileTreeTest, refuses_any_bytes_without_harm, (const std::string& bytes)) {
  RC_ASSERT(!FileTree::decode(bytes));
  RC_ASSERT(!FileTree::decode("muster-tree 1 1\n" + bytes + "\n"));
}

}  // namespace
}  // namespace muster::files
