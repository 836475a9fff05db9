#include "actors/messages/orders_first.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <caf/io/all.hpp>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using ClerkOrders = caf::typed_actor<caf::replies_to<cancel_atom, JobId>::with<JobId>>;
using ClerkQueries = caf::typed_actor<caf::replies_to<CostQuestion>::with<std::string>>;
using Clerk =
    Together<ClerkOrders, ClerkQueries,
             caf::typed_actor<caf::replies_to<hold_atom, JobId>::with<JobId>,
                              caf::reacts_to<cancel_atom, InstanceId>, caf::reacts_to<Wakeup>>>;

/// Cancels of jobs are its users' orders; the rest is nothing special to it.
class BusyClerk final : public OrdersFirst<Clerk::base, ClerkOrders> {
 public:
  BusyClerk(caf::actor_config& config, std::vector<std::string>& heard)
      : OrdersFirst(config), heard_(heard) {}

 protected:
  behavior_type make_behavior() override {
    return {[this](const CostQuestion&) {
              heard_.push_back("query");
              return std::string("answer to cost");
            },
            [this](cancel_atom, JobId job) {
              heard_.push_back("cancel");
              return job;
            },
            [this](hold_atom, JobId job) {
              heard_.push_back("hold");
              return job;
            },
            [this](cancel_atom, InstanceId) { heard_.push_back("another cancel"); },
            [](const Wakeup& wakeup) { wakeup.run(); }};
  }

 private:
  std::vector<std::string>& heard_;
};

/// Two requests and what they are answered, sent behind a report.
class OrdersFirstTest : public ::testing::Test {
 protected:
  ~OrdersFirstTest() override { system_.end(clerk_); }

  Wakeup report(const std::string& name) {
    return Wakeup{[this, name] { heard_.push_back(name); }};
  }
  /// Lets all of it get to the mailbox before any of it is heard.
  void send(const std::function<void(caf::event_based_actor*)>& all) {
    system_.actors().spawn([all](caf::event_based_actor* self) { all(self); });
    system_.time().drain();
  }
  void note(JobId job) { answers_.push_back(std::to_string(job.value)); }

  static constexpr Duration kLong = std::chrono::hours{1};
  test::VirtualSystem system_;
  std::vector<std::string> heard_;
  std::vector<std::string> answers_;
  Clerk clerk_ = [this] {
    const Clerk clerk = system_.actors().spawn<BusyClerk>(heard_);
    system_.time().drain();
    return clerk;
  }();
};

TEST_F(OrdersFirstTest, AnOrderOvertakesAReportAndAQuestionDoesNot) {
  send([this](caf::event_based_actor* self) {
    self->send(clerk_, report("report"));
    self->request(clerk_, kLong, hold_atom_v, JobId{1}).then([this](JobId job) { note(job); });
    self->request(clerk_, kLong, CostQuestion{}).then([this](const std::string& answer) {
      answers_.push_back(answer);
    });
    self->send(clerk_, cancel_atom_v, InstanceId{3});
    self->request(clerk_, kLong, cancel_atom_v, JobId{2}).then([this](JobId job) { note(job); });
  });
  EXPECT_THAT(heard_, testing::ElementsAre("cancel", "report", "hold", "query", "another cancel"));
  EXPECT_THAT(answers_, testing::ElementsAre("2", "1", "answer to cost"));
}

TEST_F(OrdersFirstTest, AQuestionWaitsForNothingThatCameAfterIt) {
  send([this](caf::event_based_actor* self) {
    self->send(clerk_, report("first"));
    self->request(clerk_, kLong, CostQuestion{}).then([](const std::string&) {});
    for (int i = 0; i < 3; ++i) self->send(clerk_, report("later"));
  });
  EXPECT_THAT(heard_, testing::ElementsAre("first", "query", "later", "later", "later"));
}

class LinkedSystem : public caf::actor_system_config {
 public:
  LinkedSystem() {
    add_messages(*this);
    load<caf::io::middleman>();
    set("scheduler.max-threads", 1);
  }
};

TEST(OrdersFirst, OneThatAsksOverALinkBetweenNodesIsAnsweredToo) {
  std::vector<std::string> heard;
  LinkedSystem here_config;
  LinkedSystem there_config;
  caf::actor_system here(here_config);
  caf::actor_system there(there_config);
  const caf::actor clerk = caf::actor_cast<caf::actor>(here.spawn<BusyClerk>(heard));
  const auto port = here.middleman().publish(clerk, 0, "127.0.0.1");
  ASSERT_TRUE(port) << here.render(port.error());
  {
    const auto far = there.middleman().remote_actor("127.0.0.1", *port);
    ASSERT_TRUE(far) << there.render(far.error());
    caf::scoped_actor self(there);
    std::string answer;
    self->request(*far, std::chrono::seconds{30}, CostQuestion{})
        .receive([&](const std::string& said) { answer = said; },
                 [&](const caf::error& error) { answer = there.render(error); });
    EXPECT_EQ(answer, "answer to cost");
    JobId cancelled;
    self->request(*far, std::chrono::seconds{30}, cancel_atom_v, JobId{7})
        .receive([&](JobId job) { cancelled = job; }, [](const caf::error&) {});
    EXPECT_EQ(cancelled, JobId{7}) << "an order is raised, and answered all the same";
  }
  caf::anon_send_exit(clerk, caf::exit_reason::kill);
}

TEST(OrdersFirst, ManyOrdersDoNotKeepAReportOut) {
  constexpr int kOrders = 1'000;
  std::vector<std::string> heard;
  LinkedSystem config;
  caf::actor_system system(config);
  const Clerk clerk = system.spawn<BusyClerk>(heard);
  {
    caf::scoped_actor self(system);
    // The clerk is busy until all of it is in the mailbox.
    std::promise<void> all_there;
    self->send(clerk, Wakeup{[&] { all_there.get_future().wait(); }});
    self->send(clerk, Wakeup{[&] { heard.emplace_back("report"); }});
    for (int i = 1; i < kOrders; ++i) caf::anon_send(clerk, cancel_atom_v, JobId{2});
    auto last = self->request(clerk, std::chrono::seconds{30}, cancel_atom_v, JobId{3});
    all_there.set_value();
    last.receive([](JobId) {}, [](const caf::error&) { ADD_FAILURE() << "no answer"; });
    const auto at = std::find(heard.begin(), heard.end(), "report") - heard.begin();
    EXPECT_LT(at, kOrders / 2);
  }
  caf::anon_send_exit(clerk, caf::exit_reason::kill);
}

}  // namespace
}  // namespace muster
