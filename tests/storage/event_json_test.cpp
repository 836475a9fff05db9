#include "storage/event_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace muster {
namespace {

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
  const auto event = event_from_json(line, two_types());
  return event ? "no error" : event.error().message;
}

TEST(EventJson, an_event_is_one_line_with_its_fields_in_a_fixed_order) {
  EXPECT_EQ(to_json(at(300.25, StartIssued{TaskId{7}, InstanceId{3}, 2})),
            "{\"t\":300.25,\"event\":\"start_issued\",\"task\":7,\"instance\":3,\"attempt\":2}\n");
  EXPECT_EQ(to_json(at(0, LaunchRequested{InstanceId{3},
                                          TypeId{1},
                                          Market::spot,
                                          Price::from_usd_h(0.08925),
                                          {CauseCode::packed, 1.5}})),
            "{\"t\":0,\"event\":\"launch_requested\",\"instance\":3,\"type\":\"c7i.large\","
            "\"market\":\"spot\",\"price_usd_h\":0.08925,"
            "\"cause\":{\"code\":\"packed\",\"gain_usd_h\":1.5}}\n");
}

TEST(EventJson, a_job_is_written_with_everything_its_tasks_need) {
  Job job;
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
  EXPECT_EQ(error_of("{\"t\":0,\"event\":\"launch_requested\",\"instance\":3,\"type\":\"x\","
                     "\"market\":\"spot\",\"price_usd_h\":1,"
                     "\"cause\":{\"code\":\"packed\",\"gain_usd_h\":1}}"),
            "field \"type\": expected an instance type of the header, \"x\" is none");
}

TEST(EventJson, errors_name_the_field_and_what_would_be_right) {
  EXPECT_THAT(error_of("{\"t\":0,"), HasSubstr("column 8: syntax error"));
  EXPECT_EQ(error_of("[1]"), "expected one JSON object");
  EXPECT_EQ(error_of("{\"event\":\"instance_up\",\"instance\":1}"), "field \"t\" is missing");
  EXPECT_EQ(error_of("{\"t\":1,\"event\":\"lunch\"}"), "there is no event \"lunch\"");
  EXPECT_EQ(error_of("{\"t\":1,\"event\":\"instance_up\"}"), "field \"instance\" is missing");
  EXPECT_EQ(error_of("{\"t\":1,\"event\":\"instance_up\",\"instance\":-1}"),
            "field \"instance\": expected a whole number from 0");
  EXPECT_EQ(error_of("{\"t\":1e3,\"event\":\"instance_up\",\"instance\":1}"),
            "field \"t\": expected a decimal number with at most nine places");
  EXPECT_EQ(error_of("{\"t\":1.0000000001,\"event\":\"instance_up\",\"instance\":1}"),
            "field \"t\": expected a decimal number with at most nine places");
  EXPECT_EQ(error_of("{\"t\":9300000000,\"event\":\"instance_up\",\"instance\":1}"),
            "field \"t\": expected a decimal number with at most nine places");
  EXPECT_EQ(error_of("{\"t\":1,\"event\":\"job_finished\",\"job\":1,\"outcome\":\"done\","
                     "\"mean_throughput\":1,\"throughput_samples\":0}"),
            "field \"outcome\": expected one of \"completed\", \"failed\", \"refused\", "
            "\"cancelled\"");
}

TEST(EventJson, errors_inside_a_job_name_the_path_to_the_field) {
  const auto job_with = [](const std::string& demands) {
    return "{\"t\":1,\"event\":\"job_accepted\",\"job\":1,\"name\":\"\",\"user\":\"\",\"class\":"
           "\"\",\"priority\":0,\"gang\":true,\"tasks\":[{\"task\":1,\"demands\":" +
           demands + "}]}";
  };
  EXPECT_EQ(error_of(job_with("[{\"family\":\"\",\"amount\":{\"gpu\":true},\"speed\":1}]")),
            "field \"tasks[0].demands[0].amount.gpu\": expected a finite number");
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
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().message, "event log version 2: this program reads version 1");
}

/// Arbitrary values for the properties.
namespace gen {

std::string text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
}
/// Any finite double, of any size.
double number() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  double value = 0;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&value, &bits, sizeof value);
  return std::isfinite(value) ? value : static_cast<double>(bits);
}
Duration duration() {
  return Duration{*rc::gen::arbitrary<std::int64_t>()};
}
template <class Enum>
Enum any(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}
template <class SomeId>
SomeId id() {
  return SomeId{*rc::gen::arbitrary<std::uint64_t>() >> 1};
}
Attempt attempt() {
  return *rc::gen::arbitrary<std::uint32_t>();
}
Cause cause() {
  return {any(CauseCode::evicted), number()};
}
Resources resources() {
  Resources amounts;
  for (Resource kind : kAllResources) {
    if (*rc::gen::arbitrary<bool>()) amounts[kind] = number();
  }
  return amounts;
}
Refusal refusal() {
  Refusal made{any(RefusalKind::broken), any(RefusalCode::task_failed), {}, number(), number()};
  if (*rc::gen::arbitrary<bool>()) made.binding = any(Resource::spare);
  return made;
}
TaskSpec task() {
  std::vector<FamilyDemand> entries;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
    entries.push_back({text(), resources(), number()});
  return {id<TaskId>(),
          Demands{entries},
          text(),
          {duration(), duration(), duration(), duration(), duration()}};
}
Job job() {
  Job made{
      id<JobId>(), text(), text(), text(), *rc::gen::arbitrary<int>(), *rc::gen::arbitrary<bool>(),
      {},          {}};
  if (*rc::gen::arbitrary<bool>()) made.runtime_hint = duration();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) made.tasks.push_back(task());
  return made;
}
RoundNote note() {
  RoundNote made{text(), {}};
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) made.figures.emplace_back(text(), number());
  return made;
}
PlanPartRefused plan_part() {
  if (*rc::gen::arbitrary<bool>()) return {id<TaskId>(), {}, refusal()};
  return {{}, id<InstanceId>(), refusal()};
}

EventBody body(std::size_t kind) {
  const auto task = id<TaskId>();
  const auto instance = id<InstanceId>();
  switch (kind) {
    case 0:
      return JobAccepted{job()};
    case 1:
      return TaskRefused{task, refusal()};
    case 2:
      return RoundDecided{*rc::gen::arbitrary<std::uint64_t>(), note()};
    case 3:
      return plan_part();
    case 4:
      return LaunchRequested{instance, TypeId{*rc::gen::inRange(0u, 2u)}, any(Market::spot),
                             Price::from_nano_usd_h(*rc::gen::arbitrary<std::int64_t>()), cause()};
    case 5:
      return LaunchRefused{instance, refusal()};
    case 6:
      return InstanceUp{instance};
    case 7:
      return InstanceReady{instance};
    case 8:
      return ReleaseDecided{instance, cause()};
    case 9:
      return TerminateIssued{instance};
    case 10:
      return InstanceGone{instance};
    case 11:
      return TaskAssigned{task, instance, cause()};
    case 12:
      return TaskUnassigned{task, cause()};
    case 13:
      return StartIssued{task, instance, attempt()};
    case 14:
      return TaskStarted{task, attempt(), duration(), duration()};
    case 15:
      return StopIssued{task, attempt()};
    case 16:
      return TaskLeft{task, attempt(), duration()};
    case 17:
      return TaskFinished{task, attempt()};
    case 18:
      return TaskFailed{task, attempt(), text()};
    default:
      return JobFinished{id<JobId>(), any(JobOutcome::refused), number(),
                         *rc::gen::arbitrary<std::uint64_t>()};
  }
}

}  // namespace gen

/// Field by field, without the help of the writer.
struct Same {
  const EventBody& other;

  bool operator()(const JobAccepted& a) const {
    const Job& x = a.job;
    const Job& y = std::get<JobAccepted>(other).job;
    return x.id == y.id && x.name == y.name && x.user == y.user &&
           x.workload_class == y.workload_class && x.priority == y.priority && x.gang == y.gang &&
           x.runtime_hint == y.runtime_hint &&
           std::equal(x.tasks.begin(), x.tasks.end(), y.tasks.begin(), y.tasks.end(),
                      [](const TaskSpec& s, const TaskSpec& t) {
                        return s.id == t.id && s.demands == t.demands && s.image == t.image &&
                               s.delays == t.delays;
                      });
  }
  bool operator()(const TaskRefused& a) const {
    const auto& b = std::get<TaskRefused>(other);
    return a.task == b.task && a.refusal == b.refusal;
  }
  bool operator()(const RoundDecided& a) const {
    const auto& b = std::get<RoundDecided>(other);
    return a.round == b.round && a.note == b.note;
  }
  bool operator()(const PlanPartRefused& a) const {
    const auto& b = std::get<PlanPartRefused>(other);
    return a.task == b.task && a.instance == b.instance && a.refusal == b.refusal;
  }
  bool operator()(const LaunchRequested& a) const {
    const auto& b = std::get<LaunchRequested>(other);
    return a.instance == b.instance && a.type == b.type && a.market == b.market &&
           a.price == b.price && a.cause == b.cause;
  }
  bool operator()(const LaunchRefused& a) const {
    const auto& b = std::get<LaunchRefused>(other);
    return a.instance == b.instance && a.refusal == b.refusal;
  }
  bool operator()(const InstanceUp& a) const {
    return a.instance == std::get<InstanceUp>(other).instance;
  }
  bool operator()(const InstanceReady& a) const {
    return a.instance == std::get<InstanceReady>(other).instance;
  }
  bool operator()(const ReleaseDecided& a) const {
    const auto& b = std::get<ReleaseDecided>(other);
    return a.instance == b.instance && a.cause == b.cause;
  }
  bool operator()(const TerminateIssued& a) const {
    return a.instance == std::get<TerminateIssued>(other).instance;
  }
  bool operator()(const InstanceGone& a) const {
    return a.instance == std::get<InstanceGone>(other).instance;
  }
  bool operator()(const TaskAssigned& a) const {
    const auto& b = std::get<TaskAssigned>(other);
    return a.task == b.task && a.to == b.to && a.cause == b.cause;
  }
  bool operator()(const TaskUnassigned& a) const {
    const auto& b = std::get<TaskUnassigned>(other);
    return a.task == b.task && a.cause == b.cause;
  }
  bool operator()(const StartIssued& a) const {
    const auto& b = std::get<StartIssued>(other);
    return a.task == b.task && a.instance == b.instance && a.attempt == b.attempt;
  }
  bool operator()(const TaskStarted& a) const {
    const auto& b = std::get<TaskStarted>(other);
    return a.task == b.task && a.attempt == b.attempt && a.fetch == b.fetch && a.build == b.build;
  }
  bool operator()(const StopIssued& a) const {
    const auto& b = std::get<StopIssued>(other);
    return a.task == b.task && a.attempt == b.attempt;
  }
  bool operator()(const TaskLeft& a) const {
    const auto& b = std::get<TaskLeft>(other);
    return a.task == b.task && a.attempt == b.attempt && a.upload == b.upload;
  }
  bool operator()(const TaskFinished& a) const {
    const auto& b = std::get<TaskFinished>(other);
    return a.task == b.task && a.attempt == b.attempt;
  }
  bool operator()(const TaskFailed& a) const {
    const auto& b = std::get<TaskFailed>(other);
    return a.task == b.task && a.attempt == b.attempt && a.reason == b.reason;
  }
  bool operator()(const JobFinished& a) const {
    const auto& b = std::get<JobFinished>(other);
    return a.job == b.job && a.outcome == b.outcome && a.mean_throughput == b.mean_throughput &&
           a.throughput_samples == b.throughput_samples;
  }
};

RC_GTEST_PROP(EventJsonProperty, every_event_reads_back_as_it_was, ()) {
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
    const Event event{Instant{gen::duration()}, gen::body(kind)};
    const std::string text = to_json(event);
    RC_ASSERT(text.find('\n') == text.size() - 1);
    const auto again = event_from_json(text, two_types());
    if (!again) RC_FAIL(text + again.error().message);
    RC_ASSERT(again.value().at == event.at);
    RC_ASSERT(again.value().body.index() == kind);
    RC_ASSERT(std::visit(Same{again.value().body}, event.body));
    RC_ASSERT(to_json(again.value()) == text);
  }
}

RC_GTEST_PROP(EventJsonProperty, a_damaged_line_is_an_error_or_an_event_but_never_worse, ()) {
  std::string text = to_json({Instant{gen::duration()}, gen::body(*rc::gen::inRange(0, 20))});
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
