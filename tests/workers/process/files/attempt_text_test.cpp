#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// What the first version wrote of an order and of a result, whose attempt it did not say.
constexpr const char* kFirstOrder =
    R"({"argv":["/bin/true"],"array_index":4,"attempt":3,"baseline_rate_per_s":0.3,)"
    R"("checkpoint_dir":"/c/7/4","control":"muster-01","env":[["SEED","9"]],"gpus":"0,2",)"
    R"("granted":[2.0,1.5,0.1,3.0,1e9,0.25],"group":"","job":7,"log_file_bytes":8388608,)"
    R"("log_files_kept":2,"max_processes":4096,"means":1,"memory_interval_ns":250000000,)"
    R"("nice":5,"stop_grace_ns":7500000000,"task":21,"task_count":12,)"
    R"("time_limit_ns":3600000000000,"user_group":0,"work_dir":"","workload_class":"sweep"})";
constexpr const char* kFirstResult =
    R"({"ended_ns":2,"err_bytes":12,"exit_code":137,"kind":2,"out_bytes":11,)"
    R"("peak_memory_bytes":3145728,"reason":"x","started_ns":1,"stopped":true,)"
    R"("stopping_ns":1500000000,"system_s":1e-06,"user_s":0.25})";

/// What is read of the text of `ordered()` when a member has that value in it.
std::optional<Order> order_with(const std::string& name, const Json& value) {
  Json text = Json::parse(to_text(ordered()));
  text[name] = value;
  return order_from(text.dump());
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

TEST(AttemptText, WhatIsNotKnownIsPassedOver) {
  EXPECT_EQ(order_with("of a later version", {{"a", 1}}), ordered());
  EXPECT_EQ(order_with("of a later version", nullptr), ordered());
}

TEST(AttemptText, OfAnOrderTheFirstVersionsMembersHaveToBeThereAndLaterOnesHaveTheirDefault) {
  const Json first = Json::parse(kFirstOrder);
  const auto read = order_from(first.dump());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->program.stop_grace, from_seconds(7.5));
  EXPECT_EQ(read->user, "");
  EXPECT_EQ(read->worker.user, std::nullopt);
  EXPECT_EQ(read->worker.hidden, std::vector<HiddenPlace>{});
  const Json whole = Json::parse(to_text(ordered()));
  for (const auto& [name, value] : whole.items()) {
    Json text = whole;
    text.erase(name);
    EXPECT_EQ(order_from(text.dump()).has_value(), !first.contains(name)) << name;
  }
}

TEST(AttemptText, OfAResultTheFirstVersionsMembersHaveToBeThere) {
  const Json first = Json::parse(kFirstResult);
  ASSERT_TRUE(result_from(first.dump()));
  EXPECT_FALSE(result_from(first.dump())->key);
  for (const auto& [name, value] : first.items()) {
    Json text = Json::parse(to_text(ended()));
    text.erase(name);
    EXPECT_FALSE(result_from(text.dump())) << name;
  }
}

TEST(AttemptText, AResultSaysWholeWhoseItIsOrNotAtAll) {
  for (const char* name : {"task", "attempt"}) {
    Json text = Json::parse(to_text(ended()));
    text.erase(name);
    EXPECT_FALSE(result_from(text.dump())) << name;
  }
}

TEST(AttemptText, NullIsNoValueOfAnyMember) {
  const Json order = Json::parse(to_text(ordered()));
  for (const auto& [name, value] : order.items()) {
    // Also of the user: null is not "as the worker's own".
    EXPECT_FALSE(order_with(name, nullptr)) << name;
  }
  const Json whole = Json::parse(to_text(ended()));
  for (const auto& [name, value] : whole.items()) {
    Json text = whole;
    text[name] = nullptr;
    EXPECT_FALSE(result_from(text.dump())) << name;
  }
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
    return order_with(name, value).has_value();
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

TEST(AttemptText, DurationsAreOfAtMostACentury) {
  const std::int64_t century = std::int64_t{100} * 365 * 86'400 * 1'000'000'000;
  const Json order = Json::parse(to_text(ordered()));
  for (const auto& [name, value] : order.items()) {
    if (!name.ends_with("_ns")) continue;
    EXPECT_TRUE(order_with(name, century)) << name;
    EXPECT_FALSE(order_with(name, century + 1)) << name;
    EXPECT_FALSE(order_with(name, -1)) << name;
    EXPECT_FALSE(order_with(name, INT64_MIN)) << name;
  }
  for (const std::int64_t ns : {std::int64_t{-1}, century + 1}) {
    Json text = Json::parse(to_text(ended()));
    text["stopping_ns"] = ns;
    EXPECT_FALSE(result_from(text.dump())) << ns;
  }
}

TEST(AttemptText, AShimIsNotToldToLookAllTheTime) {
  EXPECT_FALSE(order_with("memory_interval_ns", 0));
  EXPECT_FALSE(order_with("memory_interval_ns", 999'999));
  EXPECT_TRUE(order_with("memory_interval_ns", 1'000'000));
}

TEST(AttemptText, WhatIsNoRecordIsNone) {
  for (const char* text : {"", "[]", "7", "{\"job\": 1, \"ta", "{}", "null", "\xff"}) {
    EXPECT_FALSE(order_from(text)) << text;
    EXPECT_FALSE(result_from(text)) << text;
  }
}

TEST(AttemptText, HiddenPlacesOfTheFirstVersionsArePathsAlone) {
  const auto read = order_with("hidden", {"/srv/state", "/srv/key"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->worker.hidden, (std::vector<HiddenPlace>{{"/srv/state"}, {"/srv/key"}}));
}

TEST(AttemptText, ListsOfMembersAreWhole) {
  const auto with = [](const char* name, const char* value) {
    return order_with(name, Json::parse(value)).has_value();
  };
  EXPECT_TRUE(with("hidden", R"([["/srv/state", 2049, 131]])"));
  EXPECT_TRUE(with("hidden", R"([["/srv/state", 2049, 131, "of a later version"]])"));
  EXPECT_FALSE(with("hidden", R"([["/srv/state", 2049]])"));
  EXPECT_FALSE(with("hidden", R"([["/srv/state"]])"));
  EXPECT_FALSE(with("hidden", R"([["/srv/state", null, null]])"));
  EXPECT_FALSE(with("hidden", R"([[]])"));
  EXPECT_FALSE(with("hidden", R"([null])"));
  EXPECT_FALSE(with("demands", R"(["a family alone"])"));
  EXPECT_FALSE(with("demands", R"([["", [1, 1, 1, 0, 0, 0]]])"));
  EXPECT_FALSE(with("granted", R"([2.0, 1.5])"));
  EXPECT_FALSE(with("env", R"([["SEED"]])"));
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
