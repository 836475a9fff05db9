#include "config/worker_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using test::TempFile;
using testing::HasSubstr;

constexpr std::string_view kLeast =
    "instance = 7\nmasters = [\"m0:4000\"]\nstate_dir = \"state\"\ncheckpoint_root = \"/ckpt\"\n"
    "[capacity]\ncpu = 4\nmemory = 16\n"
    "[tls]\ncertificate = \"w.pem\"\nkey = \"w.key\"\ntrusted = \"ca.pem\"\n";

Expected<WorkerConfig, ConfigError> load(const std::string& content,
                                         const std::vector<std::string>& overrides = {}) {
  const TempFile file("worker.toml", content);
  return load_worker_config(file.path(), overrides);
}

TEST(WorkerConfigTest, ReadsAFileAndTakesItsPathsFromItsFolder) {
  const TempFile file("worker.toml", kLeast);
  const auto config = load_worker_config(file.path(), {});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->instance, 7u);
  EXPECT_EQ(config->capacity, Resources::of(0, 4, 16));
  ASSERT_EQ(config->masters.size(), 1u);
  EXPECT_EQ(config->masters[0], (Endpoint{"m0", 4000}));
  EXPECT_EQ(config->state_dir, file.folder() / "state");
  EXPECT_EQ(config->checkpoint_root, "/ckpt");
  EXPECT_EQ(config->certificate, file.folder() / "w.pem");
}

TEST(WorkerConfigTest, OverridesWinAndAloneAreEnough) {
  EXPECT_EQ(load(std::string(kLeast), {"capacity.cpu=8"})->capacity[Resource::cpu], 8);
  const auto alone = load_worker_config(
      "", {"instance=3", "masters=[\"127.0.0.1:1\",\"[::1]:2\"]", "insecure_loopback=true",
           "state_dir=/s", "checkpoint_root=/c", "capacity.cpu=1", "capacity.memory=2"});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->masters.size(), 2u);
}

TEST(WorkerConfigTest, SaysEverythingThatIsMissingAtOnce) {
  const auto config = load("instance = 7\n");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ConfigError::invalid);
  for (const char* key : {"masters", "state_dir", "checkpoint_root", "capacity.cpu",
                          "capacity.memory", "tls.certificate", "tls.key", "tls.trusted"}) {
    EXPECT_THAT(config.error().message, HasSubstr(std::string(key) + ": is missing")) << key;
  }
}

TEST(WorkerConfigTest, WithoutAFileItIsTheCommandLineThatLacksSomething) {
  const auto config = load_worker_config("", {"instance=3"});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ConfigError::bad_override);
  EXPECT_THAT(config.error().message, HasSubstr("command line: state_dir: is missing"));
}

TEST(WorkerConfigTest, NamesTheLineOfWhatIsWrong) {
  std::string content(kLeast);
  content.replace(content.find("m0:4000"), 7, "m0");
  const auto config = load(content);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("worker.toml:2:"));
  EXPECT_THAT(config.error().message, IsGoldenAt("masters"));
}

TEST(WorkerConfigTest, WhatIsHiddenIsNamedByAbsolutePaths) {
  const auto config = load("hide = [\"/keys\", \"more\"]\n" + std::string(kLeast));
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("worker.toml:1:"));
  EXPECT_THAT(config.error().message, IsGoldenAt("hide"));
}

TEST(WorkerConfigTest, WithoutTlsOnlyTheLoopbackIsDialed) {
  const auto config = load(std::string(kLeast), {"insecure_loopback=true"});
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, IsGolden());
}

TEST(WorkerConfigTest, ATimeoutHasRoomForTwoHeartbeats) {
  const auto config = load(std::string(kLeast), {"link.heartbeat=6s", "link.timeout=10s"});
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, IsGoldenAt("link.timeout"));
}

/// A worker as a loopback cloud makes one, with a value for every key.
WorkerConfig told() {
  WorkerConfig config;
  config.instance = 1'000'000'007;
  config.capacity = Resources::of(2, 1.5, 0.1);
  config.master_texts = {"127.0.0.1:1", "[::1]:2"};
  config.master_name = "n\"0\"";
  config.insecure_loopback = true;
  config.state_dir = "/s \\ é";
  config.checkpoint_root = "/c";
  config.checkpoint_mark = "a mark";
  config.files = "/files";
  config.hide = {"/keys", "/more"};
  config.shim_program = "/bin/shim";
  config.log = "/log";
  config.certificate = "/w.pem";
  config.key = "/w.key";
  config.trusted = "/ca.pem";
  config.tasks.stop_grace = std::chrono::milliseconds{1500};
  config.tasks.task_uids = "200000-265535";
  config.tasks.hold_cpu = false;
  config.tasks.disk_free_mib = 0;
  config.timeout = std::chrono::seconds{20};
  config.tasks.address = "10.0.0.7";
  return config;
}

TEST(WorkerConfigTest, WritesATextThatMeansTheSame) {
  const std::string text = worker_config_text(told());
  const auto again = load(text);
  ASSERT_TRUE(again) << again.error().message << text;
  EXPECT_EQ(worker_config_text(again.value()), text);
  EXPECT_EQ(again->instance, told().instance);
  EXPECT_EQ(again->capacity, told().capacity);
  EXPECT_EQ(again->masters.size(), 2U);
  EXPECT_EQ(again->master_name, told().master_name);
  EXPECT_EQ(again->state_dir, told().state_dir);
  EXPECT_EQ(again->hide, told().hide);
  EXPECT_EQ(again->tasks.stop_grace, told().tasks.stop_grace);
  EXPECT_FALSE(again->tasks.hold_cpu);
  EXPECT_EQ(again->tasks.disk_free_mib, 0U);
}

TEST(WorkerConfigTest, WritesEveryKeyAlsoAtItsDefault) {
  // A worker that starts again later must not have other settings for that.
  const std::string text = "\n" + worker_config_text(told());
  for (const KeyInfo& key : worker_config_keys()) {
    const std::string name = key.key.substr(key.key.find('.') + 1);
    EXPECT_THAT(text, HasSubstr("\n" + name + " = ")) << key.key;
  }
}

TEST(WorkerConfigTest, EveryKeyIsDocumented) {
  for (const KeyInfo& key : worker_config_keys()) {
    EXPECT_FALSE(key.meaning.empty()) << key.key;
    EXPECT_FALSE(key.type.empty()) << key.key;
  }
}

}  // namespace
}  // namespace muster
