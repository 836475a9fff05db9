#include "actors/cloud/combined_provider.hpp"

#include <gmock/gmock.h>

#include "actors/cloud/loopback_provider.hpp"
#include "actors/cloud/providers.hpp"
#include "tests/actors/cloud/cloud_desk.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/scripted_cloud.hpp"

namespace muster {
namespace {

using test::at_s;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr InstanceId kOwn{1}, kRented{2}, kStray{9};

/// Passes on to a cloud that the test keeps.
class Lent final : public CloudProvider {
 public:
  explicit Lent(test::ScriptedCloud& cloud) : cloud_(cloud) {}
  void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>& rented) override {
    for (const RentedRecord& record : rented) seen.push_back(record.instance);
    cloud_.watch(std::move(host), rented);
  }
  void unwatch() override { cloud_.unwatch(); }
  std::vector<Offering> offerings() const override { return cloud_.offerings(); }
  void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) override {
    cloud_.launch(order, std::move(done));
  }
  void terminate(InstanceId id, std::function<void(EndResult)> done) override {
    cloud_.terminate(id, std::move(done));
  }
  void forget(InstanceId id) override { forgotten.push_back(id); }
  void list(std::function<void(FoundInstances)> done) override { cloud_.list(std::move(done)); }
  bool interrupt(InstanceId) override { return true; }
  std::optional<Instant> all_ended_at() const override { return ended; }

  std::vector<InstanceId> seen, forgotten;
  std::optional<Instant> ended;

 private:
  test::ScriptedCloud& cloud_;
};

/// Machines of one's own of the type "box", and a cloud with the type "it3".
class Combined : public ::testing::Test {
 protected:
  Combined() {
    auto own = std::make_unique<Lent>(own_cloud_);
    auto rented = std::make_unique<Lent>(rented_cloud_);
    own_ = own.get();
    rented_ = rented.get();
    both_ = beside_each_other(std::move(own), std::move(rented), parts_.own);
  }

  static InstanceType box() {
    InstanceType type = test::it3_on_both_markets().types()[0];
    type.name = type.family = "box";
    type.spot.reset();
    return type;
  }
  static CloudConfig own_boxes() {
    CloudConfig config;
    config.own_families = {"box"};
    return config;
  }
  static Catalog both_types() { return Catalog({box(), test::it3_on_both_markets().types()[0]}); }
  static RentedRecord record(InstanceId id, const std::string& type) {
    RentedRecord made;
    made.instance = id;
    made.type = type;
    return made;
  }
  LaunchResult launch(InstanceId id, const std::string& type) {
    std::optional<LaunchResult> result;
    both_->launch(record(id, type), [&](const LaunchAnswer& got) { result = got.result; });
    return result.value();
  }
  EndResult terminate(InstanceId id) {
    std::optional<EndResult> result;
    both_->terminate(id, [&](EndResult got) { result = got; });
    return result.value();
  }
  FoundInstances listed() {
    FoundInstances found;
    both_->list([&](FoundInstances got) { found = std::move(got); });
    return found;
  }
  void begin(const std::vector<RentedRecord>& rented = {}) { both_->watch(desk_, rented); }

  CatalogParts parts_ = parts_of(both_types(), own_boxes());
  std::shared_ptr<test::Desk> desk_ = std::make_shared<test::Desk>();
  test::ScriptedCloud own_cloud_{parts_.own}, rented_cloud_{parts_.rented};
  Lent* own_ = nullptr;
  Lent* rented_ = nullptr;
  std::unique_ptr<CloudProvider> both_;
};

TEST_F(Combined, offers_the_types_of_all_its_clouds) {
  begin();
  std::vector<std::string> types;
  for (const Offering& offering : both_->offerings()) types.push_back(offering.type);
  EXPECT_THAT(types, ElementsAre("box", "it3", "it3"));
}

TEST_F(Combined, has_each_order_and_its_end_done_by_the_cloud_with_its_type) {
  begin();
  EXPECT_EQ(launch(kOwn, "box"), LaunchResult::granted);
  EXPECT_EQ(launch(kRented, "it3"), LaunchResult::granted);
  EXPECT_THAT(own_cloud_.exists, ElementsAre(kOwn));
  EXPECT_THAT(rented_cloud_.exists, ElementsAre(kRented));
  EXPECT_EQ(terminate(kRented), EndResult::accepted);
  EXPECT_EQ(own_cloud_.ends, 0);
  EXPECT_EQ(rented_cloud_.ends, 1);
  both_->forget(kRented);
  EXPECT_THAT(own_->forgotten, IsEmpty());
  EXPECT_THAT(rented_->forgotten, ElementsAre(kRented));
}

TEST_F(Combined, shows_each_cloud_the_instances_on_record_that_are_its_own) {
  RentedRecord moved = record(InstanceId{3}, "box");
  moved.machine = "4711";  // a process from before the family was named
  RentedRecord joined = record(InstanceId{4}, "it3");
  joined.machine = "host-2";  // a machine whose family is named no more
  begin({record(kOwn, "box"), record(kRented, "it3"), moved, joined});
  EXPECT_THAT(own_->seen, ElementsAre(kOwn, InstanceId{4}));
  EXPECT_THAT(rented_->seen, ElementsAre(kRented, InstanceId{3}));
  rented_cloud_.exists = {kRented};
  EXPECT_EQ(terminate(kRented), EndResult::accepted);
  EXPECT_EQ(own_cloud_.ends, 0);
}

TEST_F(Combined, finds_what_exists_in_all_clouds) {
  begin();
  launch(kOwn, "box");
  launch(kRented, "it3");
  const FoundInstances found = listed();
  EXPECT_TRUE(found.complete);
  EXPECT_THAT(found.instances, UnorderedElementsAre(kOwn, kRented));
  EXPECT_THAT(found.unknown, IsEmpty());
}

TEST_F(Combined, knows_nothing_of_the_instances_of_a_cloud_that_does_not_answer) {
  begin();
  launch(kOwn, "box");
  launch(kRented, "it3");
  rented_cloud_.dumb_lists = 1;
  const FoundInstances found = listed();
  EXPECT_TRUE(found.complete) << "the other one has answered";
  EXPECT_THAT(found.instances, ElementsAre(kOwn));
  EXPECT_THAT(found.unknown, ElementsAre(kRented));
  EXPECT_TRUE(found.partial);
  own_cloud_.dumb_lists = rented_cloud_.dumb_lists = 1;
  EXPECT_FALSE(listed().complete);
}

TEST_F(Combined, says_that_a_cloud_without_instances_on_record_did_not_answer) {
  begin();
  rented_cloud_.dumb_lists = 1;
  EXPECT_TRUE(listed().partial) << "there may be one that is on no record";
  EXPECT_FALSE(listed().partial);
}

TEST_F(Combined, does_not_answer_before_all_clouds_have) {
  begin();
  launch(kOwn, "box");
  rented_cloud_.holds_lists = true;
  EXPECT_FALSE(listed().complete);
  std::optional<FoundInstances> found;
  both_->list([&](FoundInstances got) { found = std::move(got); });
  EXPECT_FALSE(found);
  rented_cloud_.held.back()();
  ASSERT_TRUE(found);
  EXPECT_THAT(found->instances, ElementsAre(kOwn));
}

TEST_F(Combined, ends_an_instance_that_is_on_no_record_where_it_is) {
  begin();
  EXPECT_EQ(terminate(kStray), EndResult::absent);
  rented_cloud_.exists = {kStray};
  EXPECT_EQ(terminate(kStray), EndResult::accepted);
  own_cloud_.end_results = {EndResult::failed};
  EXPECT_EQ(terminate(InstanceId{10}), EndResult::failed) << "it may be there";
  own_cloud_.end_results = {EndResult::failed};
  rented_cloud_.exists = {InstanceId{11}};
  EXPECT_EQ(terminate(InstanceId{11}), EndResult::accepted);
}

TEST_F(Combined, takes_back_instances_of_the_cloud_that_has_them_and_no_others) {
  begin();
  launch(kRented, "it3");
  EXPECT_TRUE(both_->interrupt(kRented));
  EXPECT_FALSE(both_->interrupt(kStray));
}

TEST_F(Combined, says_when_the_last_of_its_clouds_was_ended) {
  EXPECT_FALSE(both_->all_ended_at());
  rented_->ended = at_s(5);
  EXPECT_EQ(both_->all_ended_at(), at_s(5));
  own_->ended = at_s(7);
  EXPECT_EQ(both_->all_ended_at(), at_s(7));
}

/// Faults of a config with machines of one's own beside another provider.
std::string fault_of(const CloudConfig& config, std::vector<InstanceType> types) {
  const auto provider = load_provider(config, Catalog(std::move(types)));
  return provider ? "" : provider.error().message;
}

TEST(OwnBesideRented, needs_types_of_both_kinds_and_no_spot_price_of_a_machine) {
  const InstanceType it3 = test::it3_on_both_markets().types()[0];
  InstanceType box = it3;
  box.name = box.family = "box";
  box.spot.reset();
  CloudConfig config;
  config.own_families = {"box"};
  EXPECT_EQ(fault_of(config, {box, it3}), "");
  EXPECT_THAT(fault_of(config, {it3}), test::IsGoldenAt("cloud.own_families"));
  EXPECT_THAT(fault_of(config, {box}), test::IsGoldenAt("cloud.own_families"));
  box.spot = Price::from_usd_h(0.1);
  EXPECT_THAT(fault_of(config, {box, it3}), test::IsGolden());
}

}  // namespace
}  // namespace muster
