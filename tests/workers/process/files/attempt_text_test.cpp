#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/process_host.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {

using Json = nlohmann::json;

/// What an earlier worker or shim left in an attempt's folder (tests/data/attempt-1).
std::string left_behind(const std::string& name) {
  return test::content_of(test::source_dir() / "tests/data/attempt-1" / name);
}

/// What the earlier worker ordered: every member that it knew has a value that is no default.
Order ordered() {
  Order order;
  order.job = JobId{7};
  order.task.id = TaskId{1'000'000'021};
  order.task.array_index = 4;
  order.attempt = 3;
  order.granted = Resources::of(2, 1.5, 0.1);
  order.granted[Resource::storage] = 3;
  order.granted[Resource::network] = 1e9;
  order.granted[Resource::spare] = 0.25;
  order.program.argv = {"train.sh", "--name", "J\xc3\xb6rg \"x\"\n"};
  order.program.env = {{"SEED", "9"}, {"EMPTY", ""}};
  order.program.work_dir = "/users/ann/runs/7";
  order.program.time_limit = from_seconds(3600);
  order.program.stop_grace = from_seconds(7.5);
  order.program.baseline_rate_per_s = 0.3;
  order.program.warn_signal = 10;
  order.program.warn_before = from_seconds(60);
  order.program.warn_program_only = true;
  order.program.script = "#!/bin/sh -e\necho $1\n";
  order.program.make_work_dir = true;
  order.task_count = 12;
  order.workload_class = "sweep";
  order.user = "ann";
  WorkerTerms& worker = order.worker;
  worker.checkpoint_dir = "/srv/checkpoints/7/4";
  worker.gpus = "0,2";
  worker.memory_interval = std::chrono::milliseconds{250};
  worker.means = LimitMeans::cgroup2_kill;
  worker.group = "/sys/fs/cgroup/muster-3/1000000021.3";
  worker.max_processes = 4096;
  worker.nice = 5;
  worker.cpus = {0, 3};
  worker.user = 70001;
  worker.user_group = 70002;
  worker.user_groups = {100, 200};
  worker.user_home = "/users/ann";
  worker.own_user = true;
  worker.hidden = {{"/srv/state", 2049, 131}, {"/srv/key", 0, 0}};
  worker.log_file_bytes = 8U << 20;
  worker.log_files_kept = 2;
  worker.login = "ann";
  worker.shell = "/bin/bash";
  worker.control = "muster-0123456789abcdef0123456789abcdef";
  return order;
}

AttemptResult ended() {
  AttemptResult result;
  result.key = AttemptKey{TaskId{1'000'000'021}, 3};
  result.kind = EndKind::out_of_memory;
  result.exit_code = 137;
  result.stopped = true;
  result.reason = "out of memory: \xef\xbf\xbd 3 MiB";
  result.started_ns = 1'700'000'000'123'456'789;
  result.ended_ns = 1'700'000'001'000'000'001;
  result.stopping = from_seconds(1.5);
  result.user_s = 0.25;
  result.system_s = 1e-6;
  result.peak_memory_bytes = 3U << 20;
  result.out_bytes = 11;
  result.err_bytes = 12;
  return result;
}

TEST(AttemptText, AnOrderOfAnEarlierWorkerIsReadWhole) {
  const auto read = order_from(left_behind("order"));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, ordered());
}

TEST(AttemptText, AResultOfAnEarlierShimIsReadWhole) {
  const auto read = result_from(left_behind("result"));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, ended());
}

TEST(AttemptText, AnEarlierVersionFindsAllThatItKnows) {
  for (const auto& [now, before] : {std::pair(to_text(ordered()), left_behind("order")),
                                    std::pair(to_text(ended()), left_behind("result"))}) {
    const Json text = Json::parse(now);
    const Json known = Json::parse(before);
    for (const auto& [name, value] : known.items()) {
      EXPECT_EQ(text.value(name, Json()), value) << name;
    }
  }
}

TEST(AttemptText, AnEarlierVersionFindsEveryMemberAlsoOfAnOrderOfDefaults) {
  Order plain;
  plain.task.id = TaskId{1};
  plain.attempt = 1;
  const Json text = Json::parse(to_text(plain));
  const Json before = Json::parse(left_behind("order"));
  for (const auto& [name, value] : before.items()) {
    // Left out by earlier versions, too: the task runs as the worker's own user.
    EXPECT_EQ(text.contains(name), name != "user") << name;
  }
}

TEST(AttemptText, WhatIsNotKnownIsPassedOverAndWhatLacksHasItsDefault) {
  Json text = Json::parse(to_text(ordered()));
  text["of a later version"] = {{"a", 1}};
  EXPECT_EQ(order_from(text.dump()), ordered());
  const Json whole = text;
  for (const auto& [name, value] : whole.items()) {
    text = whole;
    text.erase(name);
    const bool names_attempt = name == "task" || name == "attempt";
    EXPECT_EQ(order_from(text.dump()).has_value(), !names_attempt) << name;
  }
  text = whole;
  text.erase("stop_grace_ns");
  Order expected = ordered();
  expected.program.stop_grace = {};
  EXPECT_EQ(order_from(text.dump()), expected);
}

TEST(AttemptText, AResultThatIsNotWholeIsNone) {
  const Json whole = Json::parse(to_text(ended()));
  for (const auto& [name, value] : whole.items()) {
    Json text = whole;
    text.erase(name);
    if (name == "task" || name == "attempt") continue;
    EXPECT_FALSE(result_from(text.dump())) << name;
  }
  Json nobodys = whole;
  nobodys.erase("task");
  nobodys.erase("attempt");
  ASSERT_TRUE(result_from(nobodys.dump()));
  EXPECT_FALSE(result_from(nobodys.dump())->key);
}

TEST(AttemptText, ValuesOfAnotherTypeAreRefused) {
  const Json order = Json::parse(to_text(ordered()));
  for (const auto& [name, value] : order.items()) {
    Json text = order;
    text[name] = {{"x", 1}};
    EXPECT_FALSE(order_from(text.dump())) << name;
  }
  const Json result = Json::parse(to_text(ended()));
  for (const auto& [name, value] : result.items()) {
    Json text = result;
    text[name] = {{"x", 1}};
    EXPECT_FALSE(result_from(text.dump())) << name;
  }
}

TEST(AttemptText, NumbersOutOfRangeAreRefused) {
  const auto with = [](const char* name, const Json& value) {
    Json text = Json::parse(to_text(ordered()));
    text[name] = value;
    return order_from(text.dump()).has_value();
  };
  EXPECT_TRUE(with("task_count", 13));
  EXPECT_FALSE(with("task_count", -1));
  EXPECT_FALSE(with("task_count", 1e300));
  EXPECT_FALSE(with("task_count", 4294967296));
  EXPECT_FALSE(with("attempt", 0));
  EXPECT_FALSE(with("means", 3));
  EXPECT_FALSE(with("means", -1));
  EXPECT_FALSE(with("warn_signal", 9'000'000'000));
  EXPECT_FALSE(with("cpus", {0, -1}));
}

TEST(AttemptText, WhatIsNoRecordIsNone) {
  for (const char* text : {"", "[]", "7", "{\"job\": 1, \"ta", "{}", "null", "\xff"}) {
    EXPECT_FALSE(order_from(text)) << text;
    EXPECT_FALSE(result_from(text)) << text;
  }
}

TEST(AttemptText, HiddenPlacesOfTheFirstVersionsArePathsAlone) {
  Json text = Json::parse(to_text(ordered()));
  text["hidden"] = {"/srv/state", "/srv/key"};
  const auto read = order_from(text.dump());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->worker.hidden, (std::vector<HiddenPlace>{{"/srv/state"}, {"/srv/key"}}));
}

TEST(AttemptText, AnOrderWithATextThatIsNotUtf8IsNotWrittenAndAReasonIsChanged) {
  Order order = ordered();
  order.program.argv.back() = "\xff";
  EXPECT_EQ(to_text(order), "");
  AttemptResult result = ended();
  result.reason = "a\xff";
  EXPECT_EQ(result_from(to_text(result))->reason, "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace muster::process
