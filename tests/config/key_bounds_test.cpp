// Every key of every config takes what its range says and nothing beyond. What the ranges and the
// defaults are stands in tests/golden/config/key_bounds.txt.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "config/cluster_config.hpp"
#include "config/cluster_keys.hpp"
#include "config/config_keys.hpp"
#include "config/key_text.hpp"
#include "config/key_values.hpp"
#include "config/replay_config.hpp"
#include "config/worker_config.hpp"
#include "replay/replay_parts.hpp"
#include "tests/support/golden.hpp"

namespace muster::config {
namespace {

using namespace std::chrono_literals;
using test::IsGolden;

template <class C>
const std::vector<KeySpecOf<C>>& table_of() {
  if constexpr (std::is_same_v<C, ReplayConfig>) {
    static const std::vector<KeySpecOf<C>> kTable = replay_keys(replay::replay_parts());
    return kTable;
  } else {
    return key_table<C>();
  }
}

/// Tries texts as values of a key, as an override would bring them.
template <class C>
class Trial {
 public:
  explicit Trial(const KeySpecOf<C>& key) : key_(key) { std::visit(*this, key.kind); }

  void operator()(const WholeKeyOf<C>& key) const {
    takes(std::to_string(key.low));
    takes(std::to_string(key.high));
    refuses(key.low == 0 ? "-1" : std::to_string(key.low - 1));
    if (key.high < std::numeric_limits<std::int64_t>::max()) refuses(std::to_string(key.high + 1));
    for (const char* other : {"0.5", "true", "many", ""}) refuses(other);
  }
  void operator()(const NumberKeyOf<C>& key) const {
    if (key.range.above_low) {
      refuses(number_text(key.range.low));
    } else {
      takes(number_text(key.range.low));
    }
    takes(number_text(key.range.high));
    refuses(number_text(key.range.low - 0.5));
    refuses(number_text(key.range.high * 1.001 + 1));
    for (const char* other : {"nan", "inf", "-inf", "true", "many", ""}) refuses(other);
  }
  void operator()(const TimeKeyOf<C>& key) const {
    takes(duration_text(key.low));
    takes(duration_text(key.high));
    if (key.low > Duration::zero()) refuses(duration_text(key.low - 1ns));
    refuses(duration_text(key.high + 1ns));
    for (const char* other : {"-1s", "-1", "nan", "1 fortnight", "true", ""}) refuses(other);
  }
  void operator()(const PathKeyOf<C>& /*key*/) const {
    takes("some/place");
    refuses("");
  }
  void operator()(const ListKeyOf<C>& /*key*/) const {
    takes(R"(["a", "b"])");
    for (const char* other : {"[]", R"([""])", R"(["a", ""])", R"(["a", 1])"}) refuses(other);
  }
  void operator()(const ChoiceKeyOf<C>& key) const {
    for (const std::string& name : key.names) takes(name);
    for (const char* other : {"", "3", "no such word"}) refuses(other);
  }
  void operator()(const FlagKeyOf<C>& /*key*/) const {
    takes("true");
    takes("false");
    for (const char* other : {"0", "1", "yes", "True", ""}) refuses(other);
  }
  void operator()(const TextKeyOf<C>& /*key*/) const {
    takes("some words");
    refuses("");
  }
  void operator()(const NameKeyOf<C>& /*key*/) const {
    takes("n-0");
    takes(std::string(32, 'a'));
    for (const std::string& other : {std::string(33, 'a'), std::string("N0"), std::string()}) {
      refuses(other);
    }
  }
  void operator()(const EndpointKeyOf<C>& /*key*/) const {
    takes("host:1");
    takes("[::1]:65535");
    for (const char* other : {"host", "host:0", "host:65536", ":1", ""}) refuses(other);
  }
  void operator()(const CountsKeyOf<C>& key) const {
    takes(fmt::format("{{ a = {} }}", key.low));
    takes(fmt::format("{{ \"a.b\" = {}, c = {} }}", key.low, key.high));
    refuses(fmt::format("{{ a = {} }}", std::int64_t{key.high} + 1));
    refuses(fmt::format("{{ a = {} }}", std::int64_t{key.low} - 1));
    for (const char* other : {"3", "{ a = 0.5 }", "{ \"\" = 1 }"}) refuses(other);
  }

 private:
  /// The value is there afterwards: what it is written as is read as the same again.
  void takes(const std::string& text) const {
    C config;
    ASSERT_TRUE(set_from_text(config, key_, text)) << key_.name << " = " << text;
    const std::string written = value_text(config, key_);
    C again;
    EXPECT_TRUE(set_from_text(again, key_, written)) << key_.name << " = " << written;
    EXPECT_EQ(value_text(again, key_), written) << key_.name;
  }
  /// A value that does not suit leaves the one of before.
  void refuses(const std::string& text) const {
    C config;
    const std::string before = value_text(config, key_);
    EXPECT_FALSE(set_from_text(config, key_, text)) << key_.name << " = " << text;
    EXPECT_EQ(value_text(config, key_), before) << key_.name << " = " << text;
  }

  const KeySpecOf<C>& key_;
};

template <class C>
class KeyBounds : public testing::Test {};

using Configs = testing::Types<ClusterConfig, NodeConfig, WorkerConfig, ReplayConfig>;
TYPED_TEST_SUITE(KeyBounds, Configs);

TYPED_TEST(KeyBounds, AreTakenAndNothingBeyondThem) {
  for (const KeySpecOf<TypeParam>& key : table_of<TypeParam>()) Trial<TypeParam>{key};
}

TYPED_TEST(KeyBounds, AreSaidWhereAValueIsWrong) {
  for (const KeySpecOf<TypeParam>& key : table_of<TypeParam>()) {
    const std::string text = wanted(key);
    EXPECT_FALSE(text.empty()) << key.name;
    const bool counts_bytes = text.find(kBytesForms) != std::string::npos;
    EXPECT_EQ(counts_bytes, bytes_of_key(key.name) > 0) << key.name << ": " << text;
  }
}

TYPED_TEST(KeyBounds, BelongToKeysOfDifferentNames) {
  std::set<std::string> names;
  for (const KeySpecOf<TypeParam>& key : table_of<TypeParam>()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_EQ(find_key(table_of<TypeParam>(), key.name), &key);
    const std::size_t dot = key.name.rfind('.');
    if (dot != std::string::npos) {
      EXPECT_TRUE(is_section(table_of<TypeParam>(), key.name.substr(0, dot))) << key.name;
    }
    EXPECT_FALSE(is_section(table_of<TypeParam>(), key.name)) << "a section is no key";
  }
}

std::string list_of(const std::vector<KeyInfo>& keys) {
  std::string text;
  for (const KeyInfo& key : keys) {
    text += fmt::format("{}: {}, {}; default: {}\n", key.key, key.type, key.range,
                        key.default_value.empty() ? "none" : key.default_value);
  }
  return text;
}

TEST(KeyList, OfClustersHasTheseRangesAndDefaults) {
  EXPECT_THAT(list_of(cluster_config_keys()), IsGolden());
}
TEST(KeyList, OfWorkersHasTheseRangesAndDefaults) {
  EXPECT_THAT(list_of(worker_config_keys()), IsGolden());
}
TEST(KeyList, OfReplaysHasTheseRangesAndDefaults) {
  EXPECT_THAT(list_of(known_config_keys(replay::replay_parts())), IsGolden());
}

TEST(BytesOfKey, AreSaidByTheEndOfItsName) {
  EXPECT_EQ(bytes_of_key("log_bytes"), 1);
  EXPECT_EQ(bytes_of_key("logs.keep_mib"), 1 << 20);
  EXPECT_EQ(bytes_of_key("cloud.memory_reserve_gib"), 1 << 30);
  EXPECT_EQ(bytes_of_key("bytes"), 0);
  EXPECT_EQ(bytes_of_key("mib_x"), 0);
}

TEST(SetValue, TakesAmountsOfBytesInUnitsThatComeOutWhole) {
  ClusterConfig config;
  const auto& mib = *find_key<ClusterConfig>("logs.keep_mib");
  EXPECT_TRUE(set_from_text(config, mib, "2GiB"));
  EXPECT_EQ(config.logs.keep_mib, 2048U);
  for (const char* other : {"2.5MiB", "512KiB", "-1MiB", "1e30G", "2 gigs"}) {
    EXPECT_FALSE(set_from_text(config, mib, other)) << other;
  }
  EXPECT_EQ(config.logs.keep_mib, 2048U);
  const auto& gib = *find_key<ClusterConfig>("cloud.memory_reserve_gib");
  EXPECT_TRUE(set_from_text(config, gib, "512MiB"));
  EXPECT_EQ(value_text(config, gib), "0.5");
  const auto& count = *find_key<ClusterConfig>("master.max_attempts");
  EXPECT_FALSE(set_from_text(config, count, "2K")) << "it counts no bytes";
}

TEST(SetFromText, TakesTextsWithAndWithoutTheirQuotes) {
  ClusterConfig config;
  const auto& policy = *find_key<ClusterConfig>("policy");
  EXPECT_TRUE(set_from_text(config, policy, "\"eva\""));
  EXPECT_EQ(config.policy, "eva");
  EXPECT_TRUE(set_from_text(config, policy, "5")) << "a number may be a text, too";
  EXPECT_EQ(config.policy, "5");
  EXPECT_TRUE(set_from_text(config, policy, "a\nseed = 3")) << "and brings no second key";
  EXPECT_EQ(config.policy, "a\nseed = 3");
  EXPECT_EQ(config.seed, ClusterConfig{}.seed);
  const auto& hosts = *find_key<ClusterConfig>("api.hosts");
  EXPECT_TRUE(set_from_text(config, hosts, "one.example"));
  EXPECT_THAT(config.api.hosts, testing::ElementsAre("one.example"));
  EXPECT_TRUE(set_from_text(config, hosts, "[\"a\", \"b\"]"));
  EXPECT_THAT(config.api.hosts, testing::ElementsAre("a", "b"));
}

TEST(SetFromText, TakesTimesInEveryForm) {
  ClusterConfig config;
  const auto& key = *find_key<ClusterConfig>("link.request_timeout");
  for (const auto& [text, time] : std::map<std::string, Duration>{
           {"90", 90s}, {"1.5", 1500ms}, {"2min", 2min}, {"\"250ms\"", 250ms}, {"0.1", 100ms}}) {
    EXPECT_TRUE(set_from_text(config, key, text)) << text;
    EXPECT_EQ(config.link.request_timeout, time) << text;
  }
}

}  // namespace
}  // namespace muster::config
