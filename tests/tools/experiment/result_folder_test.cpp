#include "tools/experiment/result_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "tests/support/temp_file.hpp"

namespace muster::experiment {
namespace {

namespace fs = std::filesystem;
using test::TempFile;
using testing::HasSubstr;

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(ResultFolder, keeps_what_it_is_given_until_it_is_to_forget_it) {
  const TempFile place("place", "");
  const fs::path path = place.folder() / "deep" / "out";
  const auto folder = ResultFolder::open(path);
  ASSERT_TRUE(folder);
  EXPECT_FALSE(kept_result(path, "abc"));
  EXPECT_TRUE(folder->keep("abc", "{}\n"));
  EXPECT_EQ(kept_result(path, "abc"), "{}\n");
  EXPECT_TRUE(folder->keep("abc", "new"));
  EXPECT_EQ(kept_result(path, "abc"), "new");
  folder->forget("abc");
  EXPECT_FALSE(kept_result(path, "abc"));
}

TEST(ResultFolder, is_one_process_s_at_a_time) {
  const TempFile place("place", "");
  {
    const auto first = ResultFolder::open(place.folder());
    ASSERT_TRUE(first);
    const auto second = ResultFolder::open(place.folder());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, FolderError::locked);
    EXPECT_THAT(second.error().message, HasSubstr("another muster experiment"));
  }
  EXPECT_TRUE(ResultFolder::open(place.folder()));
}

TEST(ResultFolder, forgets_what_was_begun_and_not_finished) {
  const TempFile place("place", "");
  {
    const auto folder = ResultFolder::open(place.folder());
    ASSERT_TRUE(folder);
    std::ofstream(folder->begun("abc", ".json")) << "{\"runs\": [";
    std::ofstream(place.folder() / "runs" / "abc.json.part") << "{";
    ASSERT_TRUE(folder->keep("def", "{}"));
  }
  ASSERT_TRUE(ResultFolder::open(place.folder()));
  EXPECT_THAT(files_in(place.folder() / "begun"), testing::IsEmpty());
  EXPECT_THAT(files_in(place.folder() / "runs"), testing::ElementsAre("def.json"));
}

TEST(ResultFolder, has_whole_results_only_when_a_writer_is_killed_at_any_time) {
  const TempFile place("place", "");
  const std::string text(200'000, 'x');
  for (int round = 0; round < 20; ++round) {
    const pid_t writer = fork();
    if (writer == 0) {
      const auto folder = ResultFolder::open(place.folder());
      for (int i = 0; folder; ++i) folder->keep(std::to_string(i), text);
      _exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5 + 3 * round});
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    // The lock went with the writer.
    ASSERT_TRUE(ResultFolder::open(place.folder()));
    for (const std::string& name : files_in(place.folder() / "runs")) {
      ASSERT_EQ(fs::file_size(place.folder() / "runs" / name), text.size()) << name;
    }
  }
}

TEST(ResultFolder, that_cannot_be_made_is_an_error) {
  const TempFile file("file", "");
  const auto folder = ResultFolder::open(file.path() / "below");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, FolderError::unusable);
}

}  // namespace
}  // namespace muster::experiment
