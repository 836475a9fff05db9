#include "serve/node/file_keeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "actors/time/clock_wall.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/user_files.hpp"
#include "tests/serve/fake_backend.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using std::chrono::days;
using std::chrono::seconds;
using namespace std::chrono_literals;

/// A store in which job 7 begins with a tree that was not used for a while.
class FileKeeperTest : public ::testing::Test {
 protected:
  FileKeeperTest() {
    config_.folder = folder_.folder() / "store";
    EXPECT_FALSE(files::make_store(config_.folder));
    files_ = files::UserFiles::open_in(config_.folder, "ann").value();
    files::ObjectBatch batch(files_->contents());
    tree_ = batch.put_text(files::FileTree().encode()).value();
    EXPECT_FALSE(batch.finish());
    EXPECT_TRUE(files_->stage(tree_, {}, 1)->complete);
    EXPECT_FALSE(files_->pin(7, tree_));
    host_.clock = [this] {
      return std::chrono::sys_seconds{std::chrono::floor<seconds>(wall_now().time_since_epoch()) +
                                      days{later_}};
    };
    host_.note = [this](const std::string&) { swept_ = true; };
    host_.warn = [this](const std::string&) { warned_ = true; };
  }

  static bool comes(const std::function<bool()>& condition, std::chrono::milliseconds wait) {
    for (auto left = wait / 5ms; left > 0 && !condition(); --left) {
      std::this_thread::sleep_for(5ms);
    }
    return condition();
  }
  /// Whether the tree goes, by the first sweep that has looked at all.
  bool goes(const std::string& job, int status = 200) {
    backend_.answer_with({status, job});
    const FileKeeper keeper(config_, backend_, host_, {seconds{0}, seconds{3600}});
    const std::size_t before = backend_.calls();
    EXPECT_TRUE(comes([&] { return backend_.calls() > before; }, seconds{20}));
    // A tree goes within a moment of the answer.
    comes([&] { return swept_.load(); }, std::chrono::milliseconds{500});
    return !files_->contents().size(tree_).has_value();
  }

  const test::TempFile folder_{"unused", ""};
  FilesConfig config_;
  api::FakeBackend backend_;
  FileKeeper::Host host_;
  std::unique_ptr<files::UserFiles> files_;
  files::ContentId tree_;
  int later_ = 100;
  std::atomic<bool> swept_{false};
  std::atomic<bool> warned_{false};
};

TEST_F(FileKeeperTest, KeepsTheFilesOfAJobThatIsNotOver) {
  EXPECT_FALSE(goes(R"({"job": 7, "state": "waiting"})"));
  EXPECT_FALSE(goes(R"({"job": 7, "state": "a word of a later version"})"));
  EXPECT_FALSE(goes(R"({"error": {}})", 503));
  EXPECT_FALSE(warned_);
}

TEST_F(FileKeeperTest, RemovesThoseOfAJobThatIsOver) {
  EXPECT_TRUE(goes(R"({"job": 7, "state": "completed"})"));
}

TEST_F(FileKeeperTest, KeepsThoseOfAJobThatNobodyKnowsForLonger) {
  later_ = 50;
  EXPECT_FALSE(goes(R"({"error": {}})", 404));
  later_ = 100;
  EXPECT_TRUE(goes(R"({"error": {}})", 404));
}

TEST_F(FileKeeperTest, EndsWhileItWaitsForAnAnswer) {
  backend_.be_silent();
  const FileKeeper keeper(config_, backend_, host_, {seconds{0}, seconds{3600}});
  EXPECT_TRUE(comes([this] { return backend_.calls() > 0; }, seconds{20}));
  // It ends here, long before the patience for an answer.
}

TEST_F(FileKeeperTest, SaysWhenTheStoreCannotBeSwept) {
  files_.reset();
  std::filesystem::remove(config_.folder / "format");
  const FileKeeper keeper(config_, backend_, host_, {seconds{0}, seconds{3600}});
  EXPECT_TRUE(comes([this] { return warned_.load(); }, seconds{20}));
}

}  // namespace
}  // namespace muster
