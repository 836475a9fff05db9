#include "serve/notify/notify_key.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_file.hpp"

namespace muster::notify {
namespace {

TEST(NotifyKey, IsMadeOnceForItsOwnerAlone) {
  const test::TempFile beside("beside", "");
  const auto file = beside.folder() / "notify-key";
  NotifyKey key(file);
  const auto made = key.get();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 64u);
  EXPECT_EQ(key.get().value(), made.value());
  EXPECT_EQ(NotifyKey(file).get().value(), made.value()) << "after a restart";
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(NotifyKey, IsNotTakenFromAFileThatOthersRead) {
  const test::TempFile file("notify-key", std::string(64, 'a') + "\n");
  chmod(file.path().c_str(), 0644);
  EXPECT_FALSE(NotifyKey(file.path()).get());
  chmod(file.path().c_str(), 0600);
  EXPECT_EQ(NotifyKey(file.path()).get().value(), std::string(64, 'a'));
}

TEST(NotifyKey, IsNotTooShort) {
  const test::TempFile file("notify-key", "short\n");
  chmod(file.path().c_str(), 0600);
  EXPECT_FALSE(NotifyKey(file.path()).get());
}

}  // namespace
}  // namespace muster::notify
