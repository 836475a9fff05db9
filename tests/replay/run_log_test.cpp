#include "replay/run_log.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster::replay {
namespace {

using muster::test::at_s;
using muster::test::JobBuilder;

TEST(RunLog, ShowsEventsInOrderAndThenSaysThatTheyAreDurable) {
  RunLog log;
  std::string seen;
  log.show_to([&](const Event& event) { seen += std::to_string(event.body.index()) + "a "; });
  log.show_to([&](const Event& event) { seen += std::to_string(event.body.index()) + "b "; });
  std::vector<Event> batch = {{at_s(1), InstanceReady{InstanceId{1}}},
                              {at_s(1), InstanceGone{InstanceId{1}}}};
  const std::string ready = std::to_string(batch[0].body.index());
  const std::string gone = std::to_string(batch[1].body.index());
  log.append(std::move(batch), [&] { seen += "durable"; });
  EXPECT_EQ(seen, ready + "a " + ready + "b " + gone + "a " + gone + "b durable");
}

TEST(RunLog, KeepsAJobUntilAllHaveSeenItsEnd) {
  RunLog log;
  std::map<std::uint32_t, const Job*> shown;
  std::vector<std::size_t> tasks;
  log.show_to([&](const Event& event) {
    if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
      shown[event.cell] = &accepted->job;
    } else if (std::holds_alternative<JobFinished>(event.body)) {
      tasks.push_back(shown.at(event.cell)->tasks.size());
    }
  });
  // Two parts of one job, in two cells.
  log.append({{at_s(1), JobAccepted{JobBuilder(7).tasks(3).build()}, 0}}, [] {});
  log.append({{at_s(1), JobAccepted{JobBuilder(7).tasks(2).build()}, 1}}, [] {});
  log.append({{at_s(2), JobFinished{JobId{7}}, 1}, {at_s(3), JobFinished{JobId{7}}, 0}}, [] {});
  EXPECT_EQ(tasks, (std::vector<std::size_t>{2, 3}));
}

TEST(RunLog, ShowsNothingOnceItIsClosed) {
  RunLog log;
  int seen = 0;
  log.show_to([&](const Event&) { ++seen; });
  log.close();
  bool durable = false;
  log.append({{at_s(1), InstanceGone{InstanceId{1}}}}, [&] { durable = true; });
  EXPECT_EQ(seen, 0);
  EXPECT_TRUE(durable);
}

}  // namespace
}  // namespace muster::replay
