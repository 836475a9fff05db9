#include "storage/records/record_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace muster {
namespace {

using record_codec::plan_of;
using record_codec::record_name;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Names = std::set<std::string>;

Names members_of(capnp::StructSchema schema) {
  Names names;
  for (const auto field : schema.getFields()) {
    const std::string name = field.getProto().getName().cStr();
    if (!name.starts_with("obsolete")) names.insert(name);  // their numbers are never used again
  }
  return names;
}

/// Members of the record that no member of the value goes to.
template <class T>
Names left_over(capnp::StructSchema schema) {
  Names left = members_of(schema);
  for (const auto& place : plan_of<T>(schema).places()) {
    const std::string name = place.field.getProto().getName().cStr();
    EXPECT_EQ(left.erase(name), 1u) << name << " is taken twice";
  }
  return left;
}
template <class T, class Record>
Names left_over() {
  return left_over<T>(capnp::Schema::from<Record>());
}

TEST(RecordFields, NameEveryMemberOfAJobsRecord) {
  EXPECT_THAT((left_over<Job, record::Job>()), IsEmpty());
  EXPECT_THAT((left_over<TaskSpec, record::TaskSpec>()), IsEmpty());
  EXPECT_THAT((left_over<Program, record::Program>()), IsEmpty());
  EXPECT_THAT((left_over<FamilyDemand, record::FamilyDemand>()), IsEmpty());
  EXPECT_THAT((left_over<ElasticSpec, record::ElasticSpec>()), IsEmpty());
}

TEST(RecordFields, NameEveryMemberOfWhatEventsShare) {
  EXPECT_THAT((left_over<Cause, record::Cause>()), IsEmpty());
  EXPECT_THAT((left_over<Refusal, record::Refusal>()), IsEmpty());
  EXPECT_THAT((left_over<ProcessEnd, record::ProcessEnd>()), IsEmpty());
  EXPECT_THAT((left_over<Grant, record::Grant>()), IsEmpty());
  EXPECT_THAT((left_over<InstanceType, record::InstanceType>()), IsEmpty());
  EXPECT_THAT((left_over<OfferingChange, record::OfferingChange>()), IsEmpty());
}

/// Looks at the record of each kind of event.
template <std::size_t kKind = 0>
void look_at_events(Names& unions) {
  using Body = std::variant_alternative_t<kKind, EventBody>;
  const capnp::StructSchema event = capnp::Schema::from<record::Event>();
  const std::string name = record_name(kEventNames[kKind]);
  const auto field = event.getFieldByName(name);
  EXPECT_EQ(unions.erase(name), 1u) << name;
  // Its lists stand side by side.
  constexpr bool kByHand = std::is_same_v<Body, Measured>;
  if constexpr (!kByHand) {
    if (field.getType().isStruct()) {
      const Names left = left_over<Body>(field.getType().asStruct());
      // One record is shared by what comes up and what is gone.
      if (std::is_same_v<Body, InstanceUp>) {
        EXPECT_THAT(left, UnorderedElementsAre("reason"));
      } else if (std::is_same_v<Body, InstanceGone>) {
        EXPECT_THAT(left, UnorderedElementsAre("ahead"));
      } else {
        EXPECT_THAT(left, IsEmpty()) << name;
      }
    }
  }
  if constexpr (kKind + 1 < std::variant_size_v<EventBody>) look_at_events<kKind + 1>(unions);
}

TEST(RecordFields, NameEveryMemberOfEveryEventsRecord) {
  Names left = members_of(capnp::Schema::from<record::Event>());
  look_at_events(left);
  EXPECT_THAT(left, UnorderedElementsAre("at"));
}

TEST(RecordFields, AreCalledInRecordsAsInLogsButForUnitsAndSpelling) {
  EXPECT_EQ(record_name("mean_throughput"), "meanThroughput");
  EXPECT_EQ(record_name("runtime_hint_s"), "runtimeHint");
  EXPECT_EQ(record_name("price_usd_h"), "price");
  EXPECT_EQ(record_name("latitude_deg"), "latitude");
  EXPECT_EQ(record_name("capped_usd"), "cappedUsd");
  EXPECT_EQ(record_name({"class", "workloadClass"}), "workloadClass");
}

TEST(RecordFields, AFlagThatIsTrueByDefaultIsTrueInRecordsThatDoNotHaveIt) {
  capnp::MallocMessageBuilder message;
  const auto empty = message.initRoot<record::Job>();
  const Job job = record_codec::get_fields<Job>(empty.asReader());
  EXPECT_TRUE(job.movable);
  EXPECT_TRUE(job.checkpoints);
  EXPECT_FALSE(job.runtime_hint.has_value());
  EXPECT_EQ(job.program, Program{});
  EXPECT_EQ(job.most_an_instance, 0u);
}

TEST(RecordFields, DistinctInstancesInRecordsAreABoundOfOne) {
  capnp::MallocMessageBuilder message;
  auto record = message.initRoot<record::Job>();
  record.setDistinctInstances(true);
  EXPECT_EQ(record_codec::get_fields<Job>(record.asReader()).most_an_instance, 1u);
  record.setDistinctInstances(false);
  record.setMostAnInstance(3);
  EXPECT_EQ(record_codec::get_fields<Job>(record.asReader()).most_an_instance, 3u);
}

}  // namespace
}  // namespace muster
