#include "actors/cloud/cloud_writer.hpp"

#include <gmock/gmock.h>

#include "tests/actors/cloud/cloud_parts.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A writer before a store that answers when the test wants it.
class CloudWriterTest : public test::CloudParts {
 protected:
  CloudWriterTest() { store_.slow = true; }
  void on_settle(InstanceId id) override { log_.push_back("settle " + std::to_string(id.value)); }
  CloudWriter::Written noted(const std::string& name) {
    return
        [this, name](bool written) { log_.push_back(name + (written ? " written" : " failed")); };
  }
  std::function<void()> order(const std::string& name) {
    return [this, name] { log_.push_back(name); };
  }

  std::vector<std::string> log_;
};

TEST_F(CloudWriterTest, WhatComesForAnInstanceWaitsForItsRecordInItsOrder) {
  writer_.write(record_of(1), noted("1"));
  EXPECT_TRUE(writer_.is_writing(InstanceId{1}));
  EXPECT_TRUE(writer_.defer(InstanceId{1}, order("first")));
  EXPECT_TRUE(writer_.defer(InstanceId{1}, order("second")));
  EXPECT_THAT(log_, IsEmpty());
  flush();
  EXPECT_THAT(log_, ElementsAre("1 written", "first", "second", "settle 1"));
  EXPECT_FALSE(writer_.is_writing(InstanceId{1}));
}

TEST_F(CloudWriterTest, TheNextRecordMayFollowFromTheOneBefore) {
  writer_.write(record_of(1), [this](bool) { writer_.write(record_of(1), noted("next")); });
  store_.flush();
  EXPECT_TRUE(writer_.is_writing(InstanceId{1}));
  EXPECT_THAT(log_, ElementsAre("settle 1"));
  store_.flush();
  EXPECT_THAT(log_, ElementsAre("settle 1", "next written", "settle 1"));
}

TEST_F(CloudWriterTest, OtherInstancesDoNotWait) {
  writer_.write(record_of(1), noted("1"));
  EXPECT_FALSE(writer_.is_writing(InstanceId{2}));
  writer_.write(record_of(2), noted("2"));
  EXPECT_EQ(store_.waiting.size(), 2U);
}

TEST_F(CloudWriterTest, NoMoreThanSixteenOrdersOfAnInstanceWait) {
  writer_.write(record_of(1), noted("1"));
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(writer_.defer(InstanceId{1}, order("order")));
  EXPECT_FALSE(writer_.defer(InstanceId{1}, order("one more")));
  flush();
  EXPECT_EQ(log_.size(), 18U);
}

TEST_F(CloudWriterTest, ABillEndsWithTheRecordOfAnInstanceThatIsGone) {
  RentedRecord record = record_of(1);
  writer_.write(record, noted("1"));
  EXPECT_FALSE(writer_.ends_bill(InstanceId{1}));
  store_.flush();
  record.gone_at = test::at_s(1);
  writer_.write(record, noted("1"));
  EXPECT_TRUE(writer_.ends_bill(InstanceId{1}));
  store_.flush();
  EXPECT_FALSE(writer_.ends_bill(InstanceId{1}));
}

TEST_F(CloudWriterTest, TheLogHasOneLineWhenAStoreIsFullAndOneWhenItIsNotAnyMore) {
  store_.slow = false;
  store_.full = true;
  writer_.write(record_of(1), noted("1"));
  writer_.write_change({}, {}, noted("change"));
  EXPECT_FALSE(writer_.trouble().empty());
  EXPECT_THAT(desk_->notes, ElementsAre(writer_.trouble()));
  store_.full = false;
  writer_.write_change({}, {}, noted("change"));
  EXPECT_TRUE(writer_.trouble().empty());
  EXPECT_EQ(desk_->notes.size(), 2U);
  EXPECT_THAT(log_, ElementsAre("1 failed", "settle 1", "change failed", "change written"));
}

}  // namespace
}  // namespace muster
