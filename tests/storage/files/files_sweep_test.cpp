#include "storage/files/files_sweep.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "storage/files/content_parts.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/user_files.hpp"
#include "tests/storage/files/staged_folder.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;
using ::testing::ElementsAre;

class FilesSweepTest : public ::testing::Test {
 protected:
  FilesSweepTest() {
    rules_.now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());  // NOLINT: of files
    rules_.stage_keep = days{14};
    rules_.outputs_keep = days{90};
    rules_.needs_files = [this](std::uint64_t job) -> std::optional<bool> {
      if (unknown_.contains(job)) return std::nullopt;
      return open_jobs_.contains(job);
    };
    EXPECT_FALSE(make_store(store()));
    files_ = valid(UserFiles::open_in(store(), "ann"));
  }

  fs::path store() const { return beside_ / "store"; }
  ContentId put(std::string_view content) {
    ObjectBatch batch(files_->contents());
    const ContentId id = valid(batch.put_text(content));
    EXPECT_FALSE(batch.finish());
    return id;
  }
  /// A tree of one file, with all of it in the store.
  ContentId put_tree(std::string_view content) {
    const FileTree tree =
        valid(FileTree::of({{"a", EntryKind::file, 0644, content.size(), put(content), {}}}));
    return put(tree.encode());
  }
  ContentId staged(std::string_view content) {
    const ContentId tree = put_tree(content);
    EXPECT_TRUE(valid(files_->stage(tree, {}, 10)).complete);
    return tree;
  }
  /// As if all in the store had been put, and used, that long ago.
  void age(days by) {
    const auto then = std::chrono::system_clock::now() - by;  // NOLINT: of files
    const timespec time{std::chrono::system_clock::to_time_t(then), 0};
    for (const auto& entry : fs::recursive_directory_iterator(store())) {
      if (!entry.is_regular_file()) continue;
      const timespec both[] = {time, time};
      utimensat(AT_FDCWD, entry.path().c_str(), both, 0);
    }
  }
  SweepResult sweep() { return valid(sweep_user(store(), "ann", rules_)); }
  bool has(std::string_view content) {
    return files_->contents().size(ContentId::of(content)).has_value();
  }

  StagedFolder beside_;
  std::unique_ptr<UserFiles> files_;
  SweepRules rules_;
  std::set<std::uint64_t> open_jobs_, unknown_;
};

TEST_F(FilesSweepTest, removes_trees_that_no_job_has_begun_with_for_a_while) {
  const ContentId tree = staged("old");
  age(days{13});
  EXPECT_EQ(sweep().removed.objects, 0u);
  age(days{15});
  const SweepResult result = sweep();
  EXPECT_EQ(result.removed.objects, 2u);
  EXPECT_EQ(result.left.objects, 0u);
  EXPECT_FALSE(valid(files_->use_stage(tree)));
}

TEST_F(FilesSweepTest, keeps_the_tree_of_a_job_that_is_not_over) {
  const ContentId tree = staged("needed");
  EXPECT_FALSE(files_->pin(7, tree));
  open_jobs_ = {7};
  age(days{1000});
  EXPECT_EQ(sweep().removed.objects, 0u);
  open_jobs_.clear();
  EXPECT_EQ(sweep().removed.objects, 2u);
  EXPECT_TRUE(fs::is_empty(store() / "users/ann/jobs"));
}

TEST_F(FilesSweepTest, remembers_the_tree_of_a_job_that_is_over_for_one_taken_again) {
  const ContentId tree = staged("again");
  EXPECT_FALSE(files_->pin(7, tree));
  age(days{20});
  EXPECT_TRUE(valid(files_->use_stage(tree))) << "by another job";
  EXPECT_EQ(sweep().removed.objects, 0u);
  EXPECT_EQ(valid(files_->pinned(7)), tree);
  age(days{57});
  sweep();
  EXPECT_FALSE(valid(files_->pinned(7)));
}

TEST_F(FilesSweepTest, asks_nobody_for_jobs_that_are_young) {
  EXPECT_FALSE(files_->pin(7, staged("young")));
  rules_.needs_files = [](std::uint64_t) -> std::optional<bool> {
    ADD_FAILURE();
    return true;
  };
  age(days{13});
  EXPECT_EQ(sweep().removed.objects, 0u);
}

TEST_F(FilesSweepTest, keeps_the_tree_of_a_job_that_nobody_knows_for_longer) {
  EXPECT_FALSE(files_->pin(7, staged("perhaps")));
  unknown_ = {7};
  age(days{50});
  EXPECT_EQ(sweep().removed.objects, 0u);
  age(days{57});
  EXPECT_EQ(sweep().removed.objects, 2u);
}

TEST_F(FilesSweepTest, keeps_what_was_used_again) {
  const ContentId tree = staged("used");
  age(days{100});
  EXPECT_TRUE(valid(files_->use_stage(tree)));
  EXPECT_EQ(sweep().removed.objects, 0u);
  EXPECT_TRUE(has("used"));
}

TEST_F(FilesSweepTest, keeps_outputs_as_long_as_it_is_told) {
  // The clock of the machine that left them may have said anything.
  EXPECT_FALSE(files_->outputs().put(8, {{0, 1}, put_tree("old"), 1, 3, 4'000'000'000, 0}));
  age(days{91});
  EXPECT_FALSE(files_->outputs().put(7, {{0, 1}, put_tree("young"), 1, 5, 0, 0}));
  EXPECT_EQ(sweep().removed.objects, 2u);
  EXPECT_TRUE(has("young"));
  EXPECT_FALSE(has("old"));
  EXPECT_THAT(valid(files_->outputs().jobs()), ElementsAre(7));
}

TEST_F(FilesSweepTest, removes_what_crashes_have_left) {
  const fs::path ann = store() / "users/ann";
  staged("kept");
  for (const char* place : {"stages/x.0123.new", "stages/y.going", "jobs/7.4567.new"}) {
    std::ofstream(ann / place) << "x";
  }
  sweep();
  EXPECT_TRUE(fs::exists(ann / "stages/x.0123.new")) << "it may be written now";
  age(days{3});
  sweep();
  EXPECT_FALSE(fs::exists(ann / "stages/x.0123.new"));
  EXPECT_FALSE(fs::exists(ann / "stages/y.going"));
  EXPECT_TRUE(fs::is_empty(ann / "jobs"));
  EXPECT_TRUE(has("kept"));
}

TEST_F(FilesSweepTest, leaves_what_was_just_put_and_not_named_yet) {
  put("fresh");
  EXPECT_FALSE(valid(add_part(*files_, {ContentId::of("0123"), 4, 0, "01"})).complete);
  EXPECT_EQ(sweep().removed.objects, 0u);
  age(days{3});
  EXPECT_EQ(sweep().removed.objects, 1u);
  EXPECT_TRUE(fs::is_empty(store() / "users/ann/parts"));
}

TEST_F(FilesSweepTest, ends_when_it_is_told) {
  staged("old");
  age(days{100});
  rules_.goes_on = [] { return false; };
  EXPECT_EQ(sweep_user(store(), "ann", rules_).error().code, FileError::stopped);
  EXPECT_TRUE(has("old"));
}

TEST_F(FilesSweepTest, finds_the_users) {
  EXPECT_THAT(valid(users_in(store())), ElementsAre("ann"));
  EXPECT_THAT(valid(users_in(beside_ / "nothing")), ::testing::IsEmpty());
}

}  // namespace
}  // namespace muster::files
