#include "storage/records/record_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "model/state_snapshot.hpp"
#include "storage/records/record_fields.hpp"
#include "storage/records/record_parts.hpp"
#include "tests/support/arbitrary_events.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/same_state.hpp"

namespace muster {
namespace {

using test::difference;
using test::IsGolden;

RC_GTEST_PROP(RecordCodecProperty, every_event_reads_back_as_it_was, ()) {
  const Catalog catalog = test::table3_catalog();
  std::vector<Event> events;
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
    events.push_back({Instant{test::arbitrary::duration()}, test::arbitrary::body(kind)});
  }
  const auto again = decode_events(encode_events(events, catalog), catalog);
  if (!again) RC_FAIL(again.error().message);
  RC_ASSERT(again->size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    RC_ASSERT(again.value()[i].at == events[i].at);
    RC_ASSERT(events[i].body == again.value()[i].body);
  }
}

/// docs/tasks.md works out from these numbers how fast metrics may let a journal grow.
TEST(RecordCodec, a_value_that_a_task_reports_takes_88_bytes_at_most_and_its_task_32) {
  const Catalog catalog = test::table3_catalog();
  const auto bytes = [&](std::uint64_t tasks, std::size_t values, std::size_t name_bytes) {
    Measured said;
    for (std::uint64_t task = 1; task <= tasks; ++task) {
      TaskMetrics each{TaskId{task}, {}};
      for (std::size_t i = 0; i < values; ++i) {
        each.values.emplace_back(std::string(name_bytes, static_cast<char>('a' + i)), 1.0 / 3);
      }
      said.metrics.push_back(std::move(each));
    }
    return encode_events(std::vector<Event>{{test::at_s(1), said}}, catalog).size();
  };
  constexpr std::size_t kRest = 1024;  // of the record, its segments and the event itself
  EXPECT_LE(bytes(1, 1, kMaxMetricNameBytes), 88 + 32 + kRest);
  EXPECT_LE(bytes(1000, 1, kMaxMetricNameBytes), 1000 * (88 + 32) + kRest);
  EXPECT_LE(bytes(1000, 16, kMaxMetricNameBytes), 1000 * (16 * 88 + 32) + kRest);
  EXPECT_LE(bytes(1000, 16, 7), 1000 * (16 * 24 + 32) + kRest);
}

TEST(RecordCodec, bytes_and_odd_numbers_read_back_as_they_were) {
  const Catalog catalog = test::table3_catalog();
  const std::string bytes("a\0b\xff", 4);
  Job job = test::JobBuilder(1).build();
  job.program.argv = {bytes, ""};
  const std::vector<Event> events{
      {test::at_s(-1), JobAccepted{job}},
      {test::at_s(1), TaskFailed{TaskId{1}, 1, bytes, {-1, bytes, ""}}},
      {test::at_s(1),
       RoundDecided{
           1, {"", {{"inf", std::numeric_limits<double>::infinity()}, {"nan", std::nan("")}}}}}};
  const auto again = decode_events(encode_events(events, catalog), catalog);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(events[0].body, again.value()[0].body);
  EXPECT_EQ(events[1].body, again.value()[1].body);
  const auto& figures = std::get<RoundDecided>(again.value()[2].body).note.figures;
  EXPECT_TRUE(std::isinf(figures[0].second));
  EXPECT_TRUE(std::isnan(figures[1].second));
}

TEST(RecordCodec, instance_types_stand_by_name) {
  const Catalog catalog = test::table3_catalog();
  const std::vector<Event> events{
      {test::at_s(1),
       LaunchRequested{InstanceId{1}, test::type_named(catalog, "it3"), {}, {}, {}}}};
  const std::string bytes = encode_events(events, catalog);
  std::vector<InstanceType> turned(catalog.types().rbegin(), catalog.types().rend());
  const auto again = decode_events(bytes, Catalog{turned});
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<LaunchRequested>(again.value()[0].body).type, TypeId{1});
  turned.erase(turned.begin() + 1);
  const auto missing = decode_events(bytes, Catalog{turned});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, StoreError::corrupt);
  EXPECT_THAT(missing.error().message, IsGolden());
}

AttemptHistory lost_attempt() {
  AttemptHistory attempt{1, InstanceId{2}, TypeId{1}, Market::spot, test::at_s(1)};
  attempt.started_at = test::at_s(2);
  attempt.ended_at = test::at_s(63);
  attempt.end = AttemptEnd::lost;
  attempt.leaves = CauseCode::interrupted;
  attempt.gone = CloudReason::reclaimed;
  attempt.exit_code = -3;
  attempt.reason = "its worker is gone";
  attempt.cost = Money{static_cast<Money::Units>(3) << 65};
  attempt.used = {std::chrono::seconds{5}, std::uint64_t{3} << 40};
  return attempt;
}

MasterSnapshot image_of_cluster(const test::RandomCluster& cluster) {
  MasterSnapshot snapshot{cluster.state, cluster.ledger, {}, {}, {}, 0, 0, {}};
  TaskHistory story;
  story.attempts = 3;
  story.finished = true;
  story.moves = 1;
  story.failures = 2;
  story.reason = "exit code 1";
  story.instance = InstanceId{4};
  story.type = TypeId{2};
  story.started_at = test::at_s(1);
  story.end = {1, "out", "err", std::chrono::seconds{9}, std::uint64_t{5} << 30};
  story.cost = Money{static_cast<Money::Units>(-7) << 70};
  story.failure = FailureKind::time_limit;
  story.failed = true;
  story.losses = 4;
  story.metrics = {{"loss", 0.1}, {"p99_ms", -1e18}};
  story.earlier = {lost_attempt()};
  story.newest = {3, InstanceId{4}, TypeId{2}, Market::on_demand, test::at_s(9)};
  story.paid = Money{7};
  story.ran = std::chrono::seconds{61};
  story.used = {std::chrono::seconds{14}, std::uint64_t{3} << 40};
  snapshot.tasks.emplace(TaskId{8}, story);
  snapshot.tasks.emplace(TaskId{9}, TaskHistory{});
  InstanceHistory life{TypeId{1}, Market::spot, "a", Price::from_usd_h(0.5), test::at_s(1)};
  life.up_at = test::at_s(2);
  life.ended_at = test::at_s(9);
  life.rented_for = CauseCode::packed;
  life.gone = CloudReason::reclaimed;
  life.bill = Money{static_cast<Money::Units>(5) << 66};
  life.visits_before = 7;
  life.visits = {{JobId{3}, 4, 2, test::at_s(3), test::at_s(8), AttemptEnd::lost},
                 {JobId{5}, 6, 1, test::at_s(4)}};
  snapshot.instances.emplace(InstanceId{4}, life);
  snapshot.throughput.emplace(JobId{3}, ThroughputSum{0.1 + 0.2, 5});
  snapshot.unavailable[{TypeId{1}, Market::spot, "a"}] = {test::at_s(77), 3,
                                                          RefusalCode::cloud_quota};
  snapshot.spend.by_day[20'000] = Money{(static_cast<Money::Units>(1) << 100) + 3};
  for (const InstanceRow& row : snapshot.state.instances()) snapshot.spend.up(row, test::at_s(55));
  snapshot.next_instance = 12;
  snapshot.rounds = 13;
  snapshot.policy_state = std::string("\0\xfftable", 7);
  snapshot.gangs.waits[JobId{4}] = {test::at_s(5), test::at_s(6), 2, 1, true};
  snapshot.gangs.turn = GangTurn{JobId{4}, test::at_s(99)};
  snapshot.failed_parts = {{JobId{5}, 2, 3}, {JobId{1}, 7, 0}};
  snapshot.day_losses = {{TaskId{3}, std::chrono::hours{2}}, {TaskId{9}, std::chrono::seconds{1}}};
  Measured reported;
  for (const JobRow& job : snapshot.state.jobs()) {
    const TaskId task = job.job.tasks.front().id;
    reported.metrics.push_back({task, {{"loss", 0.1}, {"p99_ms", 12.5}}});
    const Refusal cap{RefusalKind::not_now, RefusalCode::instance_cap, {}, 1, 0};
    snapshot.room.waits[job.job.id] = {task, test::at_s(3), cap, test::at_s(4), 2};
    KeptRoom room{
        task, queue_place_of(job), {{InstanceId{2}, {}}, {InstanceId{7}, test::at_s(9)}}, 2, 123};
    snapshot.room.claim = RoomClaim{std::move(room), cap, test::at_s(5), test::at_s(6), 7};
  }
  snapshot.state.apply({test::at_s(60), std::move(reported)});
  return snapshot;
}

bool same_story(const TaskHistory& a, const TaskHistory& b) {
  const auto& [attempts, finished, moves, failures, reason, instance, type, started_at, ended_at,
               end, cost, failure, failed, losses, metrics, newest, earlier, paid, ran, used] = a;
  return attempts == b.attempts && finished == b.finished && moves == b.moves &&
         failures == b.failures && reason == b.reason && instance == b.instance && type == b.type &&
         started_at == b.started_at && ended_at == b.ended_at && end == b.end && cost == b.cost &&
         failure == b.failure && failed == b.failed && losses == b.losses && metrics == b.metrics &&
         newest == b.newest && earlier == b.earlier && paid == b.paid && ran == b.ran &&
         used == b.used;
}

TEST(RecordCodec, an_end_of_before_usage_was_measured_reads_as_one_that_was_not) {
  capnp::MallocMessageBuilder message;
  auto record = message.initRoot<record::ProcessEnd>();
  record.setExitCode(3);
  const ProcessEnd end = record_codec::get(record.asReader());
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_FALSE(end.used().is_known());
}

TEST(RecordCodec, an_image_reads_back_as_it_was) {
  const Catalog catalog = test::table3_catalog();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::RandomCluster cluster(catalog, seed);
    for (std::uint64_t i = 0; i < 40 * seed; ++i) cluster.step();
    const MasterSnapshot snapshot = image_of_cluster(cluster);
    const auto again = decode_snapshot(encode_snapshot(snapshot), catalog);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(difference(snapshot.state, again->state), "");
    EXPECT_EQ(difference(snapshot.ledger, again->ledger), "");
    ASSERT_EQ(again->tasks.size(), 2u);
    EXPECT_TRUE(same_story(snapshot.tasks.at(TaskId{8}), again->tasks.at(TaskId{8})));
    EXPECT_TRUE(same_story(snapshot.tasks.at(TaskId{9}), again->tasks.at(TaskId{9})));
    EXPECT_EQ(again->instances, snapshot.instances);
    EXPECT_EQ(again->throughput.at(JobId{3}).sum, 0.1 + 0.2);
    EXPECT_EQ(again->throughput.at(JobId{3}).count, 5u);
    EXPECT_EQ(again->failed_parts, snapshot.failed_parts);
    EXPECT_EQ(again->day_losses, snapshot.day_losses);
    EXPECT_EQ(again->unavailable, snapshot.unavailable);
    EXPECT_EQ(again->spend.by_day, snapshot.spend.by_day);
    EXPECT_EQ(again->spend.up_since, snapshot.spend.up_since);
    EXPECT_EQ(again->next_instance, 12u);
    EXPECT_EQ(again->rounds, 13u);
    EXPECT_EQ(again->policy_state, snapshot.policy_state);
    EXPECT_EQ(again->gangs.waits, snapshot.gangs.waits);
    EXPECT_EQ(again->room, snapshot.room);
    ASSERT_TRUE(again->gangs.turn.has_value());
    EXPECT_EQ(again->gangs.turn->job, JobId{4});
    EXPECT_EQ(again->gangs.turn->until, test::at_s(99));
  }
}

TEST(RecordCodec, an_image_that_bills_an_instance_it_does_not_have_is_refused) {
  const Catalog catalog = test::table3_catalog();
  MasterSnapshot snapshot{ClusterState(catalog), {}, {}, {}, {}, 0, 0, {}, {}, 0, {}};
  snapshot.spend.up_since[InstanceId{5}] = test::at_s(55);
  EXPECT_FALSE(decode_snapshot(encode_snapshot(snapshot), catalog));
}

TEST(RecordCodec, an_image_follows_its_types_into_another_catalog) {
  const Catalog catalog = test::table3_catalog();
  ClusterState state(catalog);
  state.apply({test::at_s(1), LaunchRequested{InstanceId{1}, TypeId{3}, {}, {}, {}}});
  MasterSnapshot snapshot{state, {}, {}, {}, {}, 0, 0, {}, {}, 0, {}, GangWaitState{}, -1, {}};
  snapshot.unavailable[{TypeId{0}, Market::spot}] = {test::at_s(77)};
  const std::string bytes = encode_snapshot(snapshot);
  const Catalog fewer{{catalog.types()[2], catalog.types()[3]}};
  const auto again = decode_snapshot(bytes, fewer);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->state.find(InstanceId{1})->type, TypeId{1});
  EXPECT_TRUE(again->unavailable.empty());
  const Catalog none{{catalog.types()[0]}};
  const auto missing = decode_snapshot(bytes, none);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, StoreError::corrupt);
  EXPECT_THAT(missing.error().message, IsGolden());
}

TEST(RecordCodec, the_records_of_sites_and_clouds_read_back_as_they_were) {
  const Handoff handoff{test::JobBuilder(5).tasks(3).build(), {true, 4}};
  const auto handoff_again = decode_handoff(encode_handoff(handoff));
  ASSERT_TRUE(handoff_again);
  EXPECT_EQ(handoff_again->job, handoff.job);
  EXPECT_EQ(handoff_again->to, handoff.to);
  const JobEnding ending{.job = JobId{9},
                         .user = "ann",
                         .outcome = JobOutcome::failed,
                         .over_at = Instant{std::chrono::seconds{3}},
                         .first = 4,
                         .tasks = 2,
                         .whole = 7,
                         .broken = true,
                         .completed = {{1, 3}, {5, 5}},
                         .failed = {{4, 10, 2}}};
  EXPECT_EQ(decode_ending(encode_ending(ending)).value(), ending);
  EXPECT_EQ(decode_token(encode_token({"t", JobId{9}}))->job, JobId{9});
  EXPECT_FALSE(decode_token(encode_token({"t", JobId{9}}))->user);
  EXPECT_EQ(decode_token(encode_token({"t", JobId{9}, "ann"}))->user, "ann");
  EXPECT_EQ(decode_token(encode_token({"t", JobId{9}, ""}))->user, "");
  EXPECT_TRUE(decode_token(encode_token({{}, JobId{9}, {}, true}))->forwarded);
  EXPECT_FALSE(decode_token(encode_token({"t", JobId{9}, "ann"}))->digest);
  EXPECT_EQ(decode_token(encode_token({"t", JobId{9}, "ann", false, 0}))->digest, 0u);
  EXPECT_EQ(decode_token(encode_token({"t", JobId{9}, "ann", false, ~0ULL}))->digest, ~0ULL);
  RentedRecord rented;
  rented.instance = InstanceId{3};
  rented.type = "it3";
  rented.market = Market::spot;
  rented.price = Price::from_usd_h(0.1);
  rented.up_at = test::at_s(5);
  rented.notice = test::at_s(0);
  rented.ending = true;
  rented.machine = "pid 7";
  rented.zone = "a";
  rented.max_price = Price::from_usd_h(0.2);
  rented.reason = CloudReason::reclaimed;
  rented.charged = Money::of(Price::from_usd_h(3), std::chrono::hours{1});
  rented.priced_at = test::at_s(4);
  rented.change = 9;
  EXPECT_EQ(decode_rented(encode_rented(rented)).value(), rented);
  const OfferingChange change{
      7, test::at_s(3), {"it3", Market::spot, "a", Price::from_usd_h(0.3), false, 0.25}};
  EXPECT_EQ(decode_cloud_change(encode_cloud_change(change)).value(), change);
  EXPECT_EQ(decode_object(encode_object(std::string("\0x", 2))).value(), std::string("\0x", 2));
}

TEST(RecordCodec, a_job_that_waits_keeps_the_resubmissions_that_it_is_to_wait_for) {
  Job job = test::JobBuilder(5).build();
  job.after = {{JobId{0}, AfterEnd::any, 0, true}, {JobId{7}}};
  job.after[1].again = JobId{0};
  job.after[1].first = JobId{3};
  const auto read = decode_handoff(encode_handoff({job, {true, 4}}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job.after, job.after);
}

TEST(RecordCodec, a_condition_of_before_resubmissions_were_kept_has_none) {
  capnp::MallocMessageBuilder message;
  auto record = message.initRoot<record::AfterJob>();
  record.setJob(7);
  const auto after = record_codec::get_fields<AfterJob>(record.asReader());
  EXPECT_FALSE(after.again.valid());
  EXPECT_FALSE(after.first.valid());
}

TEST(RecordCodec, places_and_sums_of_money_read_back_as_they_were) {
  const Money cost = Money::of(Price::from_usd_h(1e6), std::chrono::hours{100'000});
  const HistoryPlace place{7, {JobId{9}, "ada", "a name", cost}};
  const auto again = decode_place(encode_place(place));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->known);
  EXPECT_EQ(again->place, 7u);
  EXPECT_EQ(again->entry, place.entry);
  EXPECT_EQ(decode_money(encode_money(Money{} - cost)).value(), Money{} - cost);
  const auto bare = decode_place(encode_number(8));
  ASSERT_TRUE(bare);
  EXPECT_FALSE(bare->known) << "as the first format had it";
  EXPECT_EQ(bare->place, 8u);
  EXPECT_FALSE(decode_place(encode_money(cost)));
}

TEST(RecordCodec, a_history_outlives_the_types_of_its_catalog) {
  const Catalog catalog = test::table3_catalog();
  JobHistory history{
      test::JobBuilder(5).build(), JobOutcome::failed, test::at_s(1), test::at_s(9), 0.75, {}};
  history.tasks.emplace_back();
  history.tasks[0].type = TypeId{2};
  history.tasks[0].ended_at = test::at_s(8);
  const std::string bytes = encode_history(history, catalog);
  const auto again = decode_history(bytes, catalog);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->job, history.job);
  EXPECT_EQ(again->outcome, JobOutcome::failed);
  EXPECT_EQ(again->over_at, test::at_s(9));
  EXPECT_EQ(again->mean_throughput, 0.75);
  EXPECT_TRUE(same_story(again->tasks.at(0), history.tasks[0]));
  EXPECT_EQ(decode_history(bytes, Catalog{})->tasks.at(0).type, TypeId{});
}

TEST(RecordCodec, another_kind_of_record_is_refused) {
  const auto number = decode_number(encode_object("x"));
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().code, StoreError::corrupt);
  EXPECT_THAT(number.error().message, IsGolden());
}

TEST(RecordCodec, damaged_bytes_give_an_error_or_a_value_but_never_worse) {
  const Catalog catalog = test::table3_catalog();
  test::RandomCluster cluster(catalog, 3);
  std::vector<Event> events;
  for (int i = 0; i < 60; ++i) events.push_back(cluster.step());
  const std::string batch = encode_events(events, catalog);
  const std::string snapshot = encode_snapshot(image_of_cluster(cluster));
  std::mt19937_64 dice(1);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = i % 2 == 0 ? batch : snapshot;
    for (std::uint64_t n = 1 + dice() % 4; n > 0; --n) {
      bytes[dice() % bytes.size()] = static_cast<char>(dice());
    }
    if (dice() % 4 == 0) bytes.resize(dice() % bytes.size());
    if (i % 2 == 0) {
      refused += decode_events(bytes, catalog) ? 0 : 1;
    } else {
      refused += decode_snapshot(bytes, catalog) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace muster
