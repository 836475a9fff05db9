#include "storage/events/event_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/arbitrary_events.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using testing::HasSubstr;

Catalog two_types() {
  InstanceType big{"p3.2xlarge",
                   "p3",
                   Resources::of(1, 8, 61),
                   Price::from_usd_h(3.06),
                   {},
                   from_seconds(20),
                   from_seconds(130.5),
                   from_seconds(1)};
  InstanceType small{"c7i.large",
                     "c7i",
                     Resources::of(0, 2, 4),
                     Price::from_usd_h(0.08925),
                     Price::from_usd_h(0.03),
                     {},
                     {},
                     {}};
  return Catalog{{big, small}};
}

std::string to_json(const Event& event) {
  std::string text;
  append_json(event, two_types(), text);
  return text;
}

Event at(double seconds, EventBody body) {
  return {Instant{from_seconds(seconds)}, std::move(body)};
}

/// Reads the text and writes it again: equal texts mean equal events, for every field is written
/// exactly.
std::string through_reader(const std::string& text) {
  const auto event = event_from_json(text, two_types());
  return event ? to_json(event.value()) : event.error().message;
}

std::string error_of(const std::string& line) {
  return test::message_of(event_from_json(line, two_types()), EventLogError::malformed);
}

TEST(EventJson, an_event_is_one_line_with_its_fields_in_a_fixed_order) {
  EXPECT_EQ(to_json(at(300.25, StartIssued{TaskId{7}, InstanceId{3}, 2})),
            "{\"t\":300.25,\"event\":\"start_issued\",\"task\":7,\"instance\":3,\"attempt\":2}\n");
  EXPECT_EQ(to_json(at(0, LaunchRequested{InstanceId{3},
                                          TypeId{1},
                                          Market::spot,
                                          Price::from_usd_h(0.08925),
                                          {CauseCode::packed, 1.5},
                                          "",
                                          Price::from_usd_h(0.08925)})),
            "{\"t\":0,\"event\":\"launch_requested\",\"instance\":3,\"type\":\"c7i.large\","
            "\"market\":\"spot\",\"price_usd_h\":0.08925,"
            "\"cause\":{\"code\":\"packed\",\"gain_usd_h\":1.5}}\n");
}

TEST(EventJson, what_is_said_of_offerings_is_shown_where_it_is_not_as_always) {
  EXPECT_EQ(to_json(at(0, LaunchRequested{InstanceId{3},
                                          TypeId{1},
                                          Market::spot,
                                          Price::from_usd_h(0.03),
                                          {CauseCode::packed, 1.5},
                                          "b",
                                          Price::from_usd_h(0.08925)})),
            "{\"t\":0,\"event\":\"launch_requested\",\"instance\":3,\"type\":\"c7i.large\","
            "\"market\":\"spot\",\"price_usd_h\":0.03,"
            "\"cause\":{\"code\":\"packed\",\"gain_usd_h\":1.5},"
            "\"zone\":\"b\",\"max_price_usd_h\":0.08925}\n");
  const OfferingChange change{
      4,
      Instant{from_seconds(1.5)},
      {"c7i.large", Market::spot, "b", Price::from_usd_h(0.04), false, 0.5}};
  EXPECT_EQ(to_json(at(2, OfferingChanged{change})),
            "{\"t\":2,\"event\":\"offering_changed\",\"number\":4,\"changed_at\":1.5,"
            "\"type\":\"c7i.large\",\"market\":\"spot\",\"zone\":\"b\",\"price_usd_h\":0.04,"
            "\"available\":false,\"interruptions_h\":0.5}\n");
  EXPECT_EQ(to_json(at(2, InstanceGone{InstanceId{3}, {}, CloudReason::reclaimed})),
            "{\"t\":2,\"event\":\"instance_gone\",\"instance\":3,\"reason\":\"reclaimed\"}\n");
}

TEST(EventJson, a_job_is_written_with_everything_its_tasks_need) {
  Job job;
  job.gang = true;
  job.id = JobId{4};
  job.name = "vit[2]";
  job.workload_class = "vit";
  job.runtime_hint = from_seconds(3600);
  job.tasks = {{TaskId{9}, Demands{Resources::of(1, 4, 24.5)}, "img", {.init = from_seconds(60)}}};

  EXPECT_EQ(to_json(at(12, JobAccepted{job})),
            "{\"t\":12,\"event\":\"job_accepted\",\"job\":4,\"name\":\"vit[2]\",\"user\":\"\","
            "\"class\":\"vit\",\"priority\":0,\"gang\":true,\"runtime_hint_s\":3600,\"tasks\":"
            "[{\"task\":9,\"demands\":[{\"family\":\"\",\"amount\":{\"gpu\":1,\"cpu\":4,"
            "\"memory\":24.5},\"speed\":1}],\"image\":\"img\",\"delays\":{\"fetch_s\":0,"
            "\"build_s\":0,\"init_s\":60,\"stop_s\":0,\"upload_s\":0}}]}\n");
}

TEST(EventJson, what_came_later_is_written_only_where_it_is_used) {
  Job job;
  job.gang = true;
  job.id = JobId{4};
  job.tasks = {{TaskId{9}, {}, "", {}, 3}};
  job.program.argv = {"sh", "-c", "true"};
  job.program.env = {{"B", "1"}, {"A", "2"}};
  job.program.time_limit = from_seconds(90);
  job.markets = MarketChoice::on_demand;
  job.max_running = 10;
  job.retries = 0;
  job.token = "t-1";
  const std::string text = to_json(at(12, JobAccepted{job}));
  EXPECT_THAT(text, HasSubstr("\"array_index\":3}],\"program\":{\"argv\":[\"sh\",\"-c\",\"true\"],"
                              "\"env\":{\"B\":\"1\",\"A\":\"2\"},\"time_limit_s\":90},"
                              "\"markets\":\"on-demand\",\"max_running\":10,\"retries\":0,"
                              "\"token\":\"t-1\"}\n"));
  EXPECT_EQ(through_reader(text), text);
  EXPECT_EQ(to_json(at(1, TaskFinished{TaskId{1}, 2, {7, "out", ""}})),
            "{\"t\":1,\"event\":\"task_finished\",\"task\":1,\"attempt\":2,"
            "\"end\":{\"exit_code\":7,\"out_tail\":\"out\"}}\n");
  EXPECT_EQ(to_json(at(1, InstanceGone{InstanceId{3}, Instant{from_seconds(0.5)}})),
            "{\"t\":1,\"event\":\"instance_gone\",\"instance\":3,\"billed_until\":0.5}\n");
}

TEST(EventJson, a_bound_of_one_task_on_an_instance_is_written_as_before_there_were_others) {
  Job job;
  job.id = JobId{4};
  job.tasks = {{TaskId{9}, {}, "", {}, 3}};
  job.most_an_instance = 1;
  const std::string one = to_json(at(12, JobAccepted{job}));
  EXPECT_THAT(one, HasSubstr("\"distinct_instances\":true}\n"));
  EXPECT_EQ(through_reader(one), one);
  job.most_an_instance = 2;
  const std::string two = to_json(at(12, JobAccepted{job}));
  EXPECT_THAT(two, HasSubstr("\"most_an_instance\":2}\n"));
  EXPECT_THAT(two, testing::Not(HasSubstr("distinct_instances")));
  EXPECT_EQ(through_reader(two), two);
}

TEST(EventJson, measured_throughputs_stand_by_task) {
  const std::string text = to_json(at(1, Measured{{{TaskId{7}, 0.25}, {TaskId{12}, 1}}}));
  EXPECT_EQ(text, "{\"t\":1,\"event\":\"measured\",\"throughput\":{\"7\":0.25,\"12\":1}}\n");
  EXPECT_EQ(through_reader(text), text);
  const auto wrong =
      event_from_json("{\"t\":1,\"event\":\"measured\",\"throughput\":{\"a\":1}}", two_types());
  EXPECT_FALSE(wrong);
}

TEST(EventJson, times_are_exact_to_the_nanosecond_over_the_whole_range) {
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t nanos : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, kLimit,
                                   -kLimit - 1, std::int64_t{8'640'000'000'000'001}}) {
    const Event event{Instant{Duration{nanos}}, InstanceUp{InstanceId{1}}};
    const auto again = event_from_json(to_json(event), two_types());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again.value().at.time_since_epoch().count(), nanos);
  }
}

TEST(EventJson, figures_of_a_policy_may_be_infinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const RoundNote note{"full", {{"D_s", kInfinity}, {"a", -kInfinity}, {"b", std::nan("")}}};
  const std::string text = to_json(at(1, RoundDecided{5, note}));
  EXPECT_THAT(text, HasSubstr("\"figures\":{\"D_s\":\"inf\",\"a\":\"-inf\",\"b\":\"nan\"}"));
  EXPECT_EQ(through_reader(text), text);
}

TEST(EventJson, bytes_that_are_not_utf8_are_replaced_so_that_the_log_stays_readable) {
  const std::string text = to_json(at(1, TaskFailed{TaskId{1}, 1, "exit \xff 1"}));
  const auto event = event_from_json(text, two_types());
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(std::get<TaskFailed>(event.value().body).reason, "exit \xef\xbf\xbd 1");
}

TEST(EventJson, an_instance_type_that_the_header_does_not_have_is_refused) {
  EXPECT_THAT(error_of("{\"t\":0,\"event\":\"launch_requested\",\"instance\":3,\"type\":\"x\","
                       "\"market\":\"spot\",\"price_usd_h\":1,"
                       "\"cause\":{\"code\":\"packed\",\"gain_usd_h\":1}}"),
              IsGoldenAt("field \"type\""));
}

TEST(EventJson, errors_name_the_field_and_what_would_be_right) {
  EXPECT_THAT(error_of("{\"t\":0,"), HasSubstr("column 8: syntax error"));
  EXPECT_EQ(error_of("[1]"), "expected one JSON object");
  EXPECT_EQ(error_of("{\"event\":\"instance_up\",\"instance\":1}"), "field \"t\" is missing");
  EXPECT_THAT(error_of("{\"t\":1,\"event\":\"lunch\"}"), IsGolden());
  EXPECT_THAT(error_of("{\"t\":1,\"event\":\"task_left\"}"), IsGolden());
  EXPECT_EQ(error_of("{\"t\":1,\"event\":\"instance_up\"}"), "field \"instance\" is missing");
  EXPECT_THAT(error_of("{\"t\":1,\"event\":\"instance_up\",\"instance\":-1}"),
              IsGoldenAt("field \"instance\""));
  EXPECT_THAT(error_of("{\"t\":1e3,\"event\":\"instance_up\",\"instance\":1}"),
              IsGoldenAt("field \"t\""));
  EXPECT_THAT(error_of("{\"t\":1.0000000001,\"event\":\"instance_up\",\"instance\":1}"),
              IsGoldenAt("field \"t\""));
  EXPECT_THAT(error_of("{\"t\":9300000000,\"event\":\"instance_up\",\"instance\":1}"),
              IsGoldenAt("field \"t\""));
  EXPECT_EQ(error_of("{\"t\":1,\"event\":\"job_finished\",\"job\":1,\"outcome\":\"done\","
                     "\"mean_throughput\":1,\"throughput_samples\":0}"),
            "field \"outcome\": expected one of \"completed\", \"failed\", \"refused\", "
            "\"cancelled\", \"replaced\", \"skipped\", \"expired\"");
}

TEST(EventJson, errors_inside_a_job_name_the_path_to_the_field) {
  const auto job_with = [](const std::string& demands) {
    return "{\"t\":1,\"event\":\"job_accepted\",\"job\":1,\"name\":\"\",\"user\":\"\",\"class\":"
           "\"\",\"priority\":0,\"gang\":true,\"tasks\":[{\"task\":1,\"demands\":" +
           demands + "}]}";
  };
  EXPECT_THAT(error_of(job_with("[{\"family\":\"\",\"amount\":{\"gpu\":true},\"speed\":1}]")),
              IsGoldenAt("field \"tasks[0].demands[0].amount.gpu\""));
  EXPECT_THAT(error_of(job_with("[{\"family\":\"\",\"amount\":{\"gpu\":1e999},\"speed\":1}]")),
              HasSubstr("number overflow"));
  EXPECT_EQ(error_of(job_with("[{\"family\":\"\",\"amount\":{\"gup\":1},\"speed\":1}]")),
            "field \"tasks[0].demands[0].amount.gup\": expected one of \"gpu\", \"cpu\", "
            "\"memory\", \"storage\", \"network\", \"spare\"");
  EXPECT_EQ(error_of(job_with("7")), "field \"tasks[0].demands\": expected a list");
}

TEST(EventJson, a_line_that_is_nested_without_end_is_refused) {
  EXPECT_THAT(error_of("{\"t\":" + std::string(100'000, '[')), HasSubstr("nested more than 32"));
}

TEST(EventJson, the_header_carries_the_catalog_with_exact_prices) {
  std::string text;
  append_json(LogHeader{"eva,t=0.9", 18'446'744'073'709'551'615u, two_types()}, text);
  EXPECT_THAT(text, HasSubstr("{\"muster_events\":1,\"policy\":\"eva,t=0.9\",\"seed\":"
                              "18446744073709551615,\"types\":[{\"name\":\"p3.2xlarge\""));
  const auto header = header_from_json(text);
  ASSERT_TRUE(header) << header.error().message;
  std::string again;
  append_json(header.value(), again);
  EXPECT_EQ(again, text);
  EXPECT_EQ(header.value().catalog[TypeId{1}].on_demand, Price::from_usd_h(0.08925));
  EXPECT_EQ(header.value().catalog[TypeId{0}].spot, std::nullopt);
}

TEST(EventJson, a_header_of_another_version_is_refused) {
  const auto header = header_from_json("{\"muster_events\":2}");
  EXPECT_THAT(test::message_of(header, EventLogError::malformed),
              IsGoldenAt("event log version 2"));
}

RC_GTEST_PROP(EventJsonProperty, every_event_reads_back_as_it_was, ()) {
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
    const Event event{Instant{test::arbitrary::duration()}, test::arbitrary::body(kind)};
    const std::string text = to_json(event);
    RC_ASSERT(text.find('\n') == text.size() - 1);
    const auto again = event_from_json(text, two_types());
    if (!again) RC_FAIL(text + again.error().message);
    RC_ASSERT(again.value().at == event.at);
    RC_ASSERT(again.value().body.index() == kind);
    RC_ASSERT(event.body == again.value().body);
    RC_ASSERT(to_json(again.value()) == text);
  }
}

RC_GTEST_PROP(EventJsonProperty, a_damaged_line_is_an_error_or_an_event_but_never_worse, ()) {
  std::string text = to_json(
      {Instant{test::arbitrary::duration()},
       test::arbitrary::body(*rc::gen::inRange<std::size_t>(0, std::variant_size_v<EventBody>))});
  const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
  if (*rc::gen::arbitrary<bool>()) {
    text.resize(place);
  } else {
    text[place] = *rc::gen::inRange<char>(' ', 126);
  }
  const auto event = event_from_json(text, two_types());
  if (!event) RC_ASSERT(!event.error().message.empty());
}

}  // namespace
}  // namespace muster
