#include "replay/workload/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/config_keys.hpp"
#include "replay/interference.hpp"
#include "replay/replay_parts.hpp"
#include "replay/workload/google_2011.hpp"
#include "replay/workload/swf.hpp"

namespace muster::replay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> keys_of(const ReplayPart& part) {
  std::vector<std::string> names;
  for (const auto& key : part.keys) names.push_back(key.name);
  return names;
}

TEST(WorkloadFormats, are_shown_traces_first) {
  EXPECT_THAT(names_of(trace_formats()), ElementsAre("eva-json", "openb-csv", "muster-csv", "tr",
                                                     "google-2011", "alibaba-2017", "swf"));
  std::vector<std::string> all = names_of(trace_formats());
  all.insert(all.end(), {"synthetic", "composed", "training", "services"});
  EXPECT_EQ(names_of(workload_formats()), all);
}

TEST(WorkloadFormats, need_the_file_that_they_read) {
  for (const WorkloadFormat& format : trace_formats()) {
    EXPECT_THAT(format.part.needs, ElementsAre("workload.path")) << format.part.name;
  }
}

TEST(WorkloadFormats, own_the_keys_that_they_alone_read) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const ReplayPart& part : replay_parts().formats) keys[part.name] = keys_of(part);
  EXPECT_THAT(keys["google-2011"],
              ElementsAre("workload.machine.cpu", "workload.google_max_priority"));
  EXPECT_THAT(keys["swf"], ElementsAre("workload.swf_processors_per_task", "workload.swf_gangs",
                                       "workload.swf_needs_memory"));
  EXPECT_THAT(keys["synthetic"], Contains("workload.synthetic.jobs"));
  EXPECT_THAT(keys["composed"], Contains("workload.composed.demands_format"));
  EXPECT_THAT(keys["training"], Contains("workload.training.calibration"));
  EXPECT_THAT(keys["tr"], IsEmpty());
}

TEST(ReplayParts, bring_every_key_once_and_need_only_keys_that_there_are) {
  std::set<std::string> names;
  for (const KeyInfo& key : known_config_keys(replay_parts())) {
    EXPECT_TRUE(names.insert(key.key).second) << key.key;
  }
  for (const auto* parts : {&replay_parts().formats, &replay_parts().interference}) {
    for (const ReplayPart& part : *parts) {
      for (const std::string& key : part.needs) EXPECT_TRUE(names.contains(key)) << key;
    }
  }
}

TEST(ReplayParts, keep_the_settings_of_one_format_from_another) {
  WorkloadConfig config;
  config.own.of<GoogleSettings>().max_priority = 3;
  const WorkloadConfig copy = config;
  config.own.of<GoogleSettings>().max_priority = 4;
  EXPECT_EQ(copy.own.of<GoogleSettings>().max_priority, 3U);
  EXPECT_EQ(copy.own.of<SwfSettings>().processors_per_task, 1U) << "a default";
}

TEST(ReplayParts, without_a_format_its_keys_are_unknown) {
  std::vector<std::string> names;
  for (const KeyInfo& key : known_config_keys(ReplayParts{})) names.push_back(key.key);
  EXPECT_THAT(names, Contains("workload.path"));
  EXPECT_THAT(names, Not(Contains("workload.google_max_priority")));
}

TEST(InterferenceModels, own_the_keys_that_they_alone_read) {
  std::vector<std::string> names;
  for (const ReplayPart& part : replay_parts().interference) names.push_back(part.name);
  EXPECT_THAT(names, ElementsAre("none", "uniform", "pairwise"));
  EXPECT_THAT(keys_of(pairwise_interference().part),
              ElementsAre("world.interference.matrix", "world.interference.variant"));
  EXPECT_THAT(keys_of(uniform_interference().part), IsEmpty());
}

TEST(InterferenceModels, are_listed_when_one_is_unknown) {
  InterferenceConfig config;
  config.model = "unifrom";
  EXPECT_THAT(make_interference(config).error().message, HasSubstr("uniform"));
}

}  // namespace
}  // namespace muster::replay
