#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/catalog_file.hpp"
#include "replay/replay_parts.hpp"
#include "replay/workload/drawn_services.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

// Services in workloads: the columns that state them, and those that are drawn.

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::csv_of;
using test::reading;

constexpr std::string_view kHeader =
    "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class,iterations,gang,init_s,"
    "runtime_hint_s,lasts_s,performance,goal,day_load\n";
constexpr std::string_view kWeb = "web:1.2/0.95/1/0.3/0.5/0.04/0.01";

Expected<Workload, WorkloadError> read_rows(const std::string& rows) {
  const TempFile file("jobs.csv", std::string(kHeader) + rows);
  return read_workload(reading("muster-csv", file.path()), 1);
}

/// A service with these columns behind `lasts_s`.
std::string service_row(const std::string& rest) {
  return "1,10,ada,front,3,0,2,4,,web,,,20,,3600," + rest + "\n";
}

std::string fault_of(const std::string& rows) {
  return message_of(read_rows(rows), WorkloadError::invalid);
}

std::string day_text(std::size_t hours, const std::string& load = "0.5") {
  std::string day = load;
  for (std::size_t hour = 1; hour < hours; ++hour) day += ";1";
  return day;
}

TEST(ServiceColumns, make_a_service_of_a_job) {
  const auto workload = read_rows(service_row(std::string(kWeb) + ",0.5," + day_text(24)));
  ASSERT_TRUE(workload) << workload.error().message;
  const WorkloadJob& job = workload->jobs.at(0);
  EXPECT_NE(job.job.service(), nullptr);
  EXPECT_FALSE(job.job.gang);
  EXPECT_EQ(job.job.tasks.size(), 3U);
  EXPECT_EQ(job.job.tasks[0].delays.init, 20s);
  ASSERT_TRUE(job.truth.service);
  EXPECT_EQ(lifetime_of(job.truth), 1h);
  EXPECT_EQ(job.truth.service->goal, 0.5);
  EXPECT_EQ(job.truth.service->performance->text(), kWeb);
  EXPECT_EQ(job.truth.service->day.size(), kDayHours);
  EXPECT_EQ(job.truth.service->peak(), 1);
}

TEST(ServiceColumns, need_nothing_but_the_end) {
  const auto workload = read_rows(service_row(",,"));
  ASSERT_TRUE(workload) << workload.error().message;
  const ServiceTruth& service = *workload->jobs.at(0).truth.service;
  EXPECT_FALSE(service.performance);
  EXPECT_EQ(service.goal, 0);
  EXPECT_EQ(service.peak(), 1);
}

TEST(ServiceColumns, leave_jobs_without_them_as_they_are) {
  const auto workload = read_rows("1,0,ada,solve,1,0,2,4,60,solver,,,,,,,,\n");
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->jobs.at(0).job.service(), nullptr);
  EXPECT_FALSE(workload->jobs.at(0).truth.service);
}

TEST(ServiceColumns, are_written_as_they_are_read) {
  const auto workload =
      read_rows(service_row(std::string(kWeb) + ",0.5," + day_text(24)) +
                "2,20,bob,solve,1,0,2,4,60,solver,,,,,,,,\n"
                "3,30,ada,store,2,0,2,4,,store,,,,,7200.5,measured:1/2=0.4;2/4=0.8;x2=0.9,,\n"
                "4,30,ada,plain,2,0,2,4,,store,,,,,10,,,\n");
  ASSERT_TRUE(workload) << workload.error().message;
  const std::string written = csv_of(workload.value());
  const TempFile file("again.csv", written);
  const auto again = read_workload(reading("muster-csv", file.path()), 1);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(csv_of(again.value()), written);
  ASSERT_EQ(again->jobs.size(), 4U);
  EXPECT_EQ(again->jobs[0].truth.service->day, workload->jobs[0].truth.service->day);
  EXPECT_EQ(again->jobs[2].truth.service->performance->text(),
            workload->jobs[2].truth.service->performance->text());
  EXPECT_EQ(lifetime_of(again->jobs[2].truth), 7200500ms);
  EXPECT_FALSE(again->jobs[1].truth.service);
  EXPECT_EQ(test::all_text(again.value()), test::all_text(workload.value()));
}

TEST(ServiceColumns, that_are_wrong_are_refused_where_they_stand) {
  const std::string web(kWeb);
  EXPECT_THAT(fault_of(service_row("web:1/2,0.5,")), IsGoldenAt("jobs.csv:2: performance"));
  EXPECT_THAT(fault_of(service_row(web + ",1.5,")), IsGoldenAt("jobs.csv:2: goal"));
  EXPECT_THAT(fault_of(service_row(",0.5,")), IsGoldenAt("jobs.csv:2: goal"));
  EXPECT_THAT(fault_of(service_row(web + ",0.5," + day_text(23))),
              IsGoldenAt("jobs.csv:2: day_load"));
  EXPECT_THAT(fault_of(service_row(web + ",0.5," + day_text(24, "-1"))),
              IsGoldenAt("jobs.csv:2: day_load"));
  EXPECT_THAT(fault_of(service_row("measured:1/2=0.5,0.5," + day_text(24))),
              IsGoldenAt("jobs.csv:2: day_load"));
}

TEST(ServiceColumns, that_do_not_go_with_others_are_refused_where_they_stand) {
  EXPECT_THAT(fault_of("1,0,a,b,1,0,2,4,60,c,,,,,3600,,,\n"), IsGoldenAt("jobs.csv:2: duration_s"));
  EXPECT_THAT(fault_of("1,0,a,b,1,0,2,4,,c,5,,,,3600,,,\n"), IsGoldenAt("jobs.csv:2: iterations"));
  EXPECT_THAT(fault_of("1,0,a,b,1,0,2,4,,c,,,,9,3600,,,\n"),
              IsGoldenAt("jobs.csv:2: runtime_hint_s"));
  EXPECT_THAT(fault_of("1,0,a,b,2,0,2,4,,c,,true,,,3600,,,\n"), IsGoldenAt("jobs.csv:2: gang"));
  EXPECT_THAT(fault_of("1,0,a,b,1025,0,2,4,,c,,,,,3600,,,\n"), IsGoldenAt("jobs.csv:2: tasks"));
  EXPECT_THAT(fault_of("1,0,a,b,1,0,2,4,,c,,,,,0,,,\n"), IsGoldenAt("jobs.csv:2: lasts_s"));
  EXPECT_THAT(fault_of("1,0,a,b,1,0,2,4,60,c,,,,,,,0.5,\n"), IsGoldenAt("jobs.csv:2: goal"));
}

WorkloadConfig drawn(std::uint32_t services, std::uint32_t jobs) {
  WorkloadConfig config;
  config.format = "services";
  config.own.of<DrawnServices>().services = services;
  config.own.of<DrawnServices>().jobs = jobs;
  return config;
}

/// Of those that are services, or of the others, by name.
std::set<std::string> names_in(const Workload& workload, bool services) {
  std::set<std::string> names;
  for (const WorkloadJob& job : workload.jobs) {
    if ((job.truth.service != nullptr) != services) continue;
    names.insert(job.job.name + " at " + std::to_string(job.submit.time_since_epoch().count()) +
                 " of " + std::to_string(job.truth.iterations));
  }
  return names;
}

TEST(DrawnServices, are_as_many_as_are_asked_for_beside_as_many_jobs) {
  const Workload workload = read_workload(drawn(30, 50), 1).value();
  EXPECT_EQ(names_in(workload, true).size(), 30U);
  EXPECT_EQ(names_in(workload, false).size(), 50U);
}

TEST(DrawnServices, are_equal_for_a_seed_whatever_their_number) {
  const Workload few = read_workload(drawn(10, 5), 1).value();
  const Workload many = read_workload(drawn(40, 50), 1).value();
  for (const bool services : {true, false}) {
    const auto of_many = names_in(many, services);
    for (const std::string& name : names_in(few, services)) {
      EXPECT_TRUE(of_many.contains(name)) << name;
    }
  }
  EXPECT_NE(names_in(read_workload(drawn(10, 5), 2).value(), true), names_in(few, true));
}

TEST(DrawnServices, stay_within_their_bounds) {
  WorkloadConfig config = drawn(200, 200);
  auto& bounds = config.own.of<DrawnServices>();
  bounds.min_replicas = 2;
  bounds.max_replicas = 5;
  bounds.span = 2h;
  bounds.day_depth = 0.5;
  const Workload workload = read_workload(config, 3).value();
  for (const WorkloadJob& job : workload.jobs) {
    EXPECT_LT(job.submit, Instant{2h});
    if (!job.truth.service) {
      EXPECT_GE(job.truth.iterations, 0.1 * 3600 - 1);
      EXPECT_LE(job.truth.iterations, 8 * 3600);
      EXPECT_LE(job.job.tasks.size(), 4U);
      continue;
    }
    EXPECT_GE(lifetime_of(job.truth), 6h - 1s);
    EXPECT_LE(lifetime_of(job.truth), 72h);
    EXPECT_GE(job.job.service()->replicas, 2U);
    EXPECT_LE(job.job.service()->replicas, 5U);
    EXPECT_GT(job.job.tasks.size(), job.job.service()->replicas) << "some stand in for others";
    EXPECT_LE(job.job.tasks[0].delays.init, 2min);
    const std::vector<double>& day = job.truth.service->day;
    EXPECT_DOUBLE_EQ(*std::max_element(day.begin(), day.end()), 1);
    EXPECT_DOUBLE_EQ(*std::min_element(day.begin(), day.end()), 0.5);
  }
}

TEST(DrawnServices, ask_for_more_than_they_need_and_let_their_size_be_chosen) {
  WorkloadConfig config = drawn(50, 0);
  config.own.of<DrawnServices>().size = StatedSize::over;
  const Workload workload = read_workload(config, 1).value();
  for (const WorkloadJob& job : workload.jobs) {
    const ServiceTruth& service = *job.truth.service;
    const Resources& asked = job.job.tasks[0].demands.on("any")->amount;
    EXPECT_EQ(asked[Resource::cpu], 2.5 * service.performance->right_size(service.goal).cores);
    EXPECT_EQ(job.job.service()->size.least_cpus, 0.5);
    EXPECT_EQ(job.job.service()->goal.bound, service.goal);
  }
}

TEST(DrawnServices, ask_for_the_cheapest_size_that_reaches_their_goals) {
  WorkloadConfig config = drawn(50, 0);
  const Workload right = read_workload(config, 1).value();
  config.own.of<DrawnServices>().size = StatedSize::largest;
  const Workload largest = read_workload(config, 1).value();
  for (std::size_t i = 0; i < right.jobs.size(); ++i) {
    const ServiceTruth& service = *right.jobs[i].truth.service;
    const Resources& asked = right.jobs[i].job.tasks[0].demands.on("any")->amount;
    EXPECT_EQ(asked[Resource::cpu], service.performance->right_size(service.goal).cores);
    const Resources& most = largest.jobs[i].job.tasks[0].demands.on("any")->amount;
    EXPECT_EQ(most[Resource::cpu], 8);
    EXPECT_EQ(most[Resource::memory], 16);
    // They are the same services otherwise.
    EXPECT_EQ(largest.jobs[i].truth.service->performance->text(), service.performance->text());
  }
}

TEST(DrawnServices, with_bounds_in_the_wrong_order_are_refused) {
  const auto fault = [](const std::string& settings) {
    const TempFile catalog("types.csv", "name,family,cpu,memory_gib,usd_per_hour\nt,f,8,16,1\n");
    const TempFile file("drawn.toml", "policies = [\"no-packing\"]\ncatalog = \"" +
                                          catalog.path().string() +
                                          "\"\n[workload]\nformat = \"services\"\n"
                                          "[workload.services]\n" +
                                          settings);
    return message_of(load_replay_config(replay_parts(), file.path(), {}), ConfigError::invalid);
  };
  EXPECT_THAT(fault("min_life_h = 8\nmax_life_h = 7\n"), IsGoldenAt("drawn.toml:6"));
  EXPECT_THAT(fault("min_replicas = 9\n"), IsGoldenAt("drawn.toml:6"));
  EXPECT_THAT(fault("min_goal = 0.95\n"), IsGoldenAt("drawn.toml:6"));
  EXPECT_THAT(fault("max_duration_h = 0.05\n"), IsGoldenAt("drawn.toml"));
  EXPECT_THAT(fault("size = \"huge\"\n"), IsGoldenAt("drawn.toml:6"));
}

}  // namespace
}  // namespace muster::replay
