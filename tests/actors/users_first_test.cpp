#include "actors/users_first.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <caf/io/all.hpp>

#include "actors/messages.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using Clerk =
    caf::typed_actor<caf::replies_to<CostQuestion>::with<std::string>,
                     caf::replies_to<cancel_atom, JobId>::with<JobId>,
                     caf::replies_to<hold_atom, JobId>::with<JobId>, caf::reacts_to<Wakeup>>;

/// Its users ask questions and cancel; holds are nothing special to it.
class BusyClerk final : public UsersFirst<Clerk::base, BusyClerk> {
 public:
  BusyClerk(caf::actor_config& config, std::vector<std::string>& heard)
      : UsersFirst(config), heard_(heard) {}
  static bool is_users(const caf::type_erased_tuple& content) {
    return content.match_elements<CostQuestion>() || begins_with<cancel_atom, JobId>(content);
  }

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
            [](const Wakeup& wakeup) { wakeup.run(); }};
  }

 private:
  std::vector<std::string>& heard_;
};

TEST(UsersFirst, WhatUsersAskOvertakesWhatWaitsAndNothingElseDoes) {
  test::VirtualSystem system;
  std::vector<std::string> heard;
  const Clerk clerk = system.actors().spawn<BusyClerk>(heard);
  system.time().drain();
  std::vector<std::string> answers;
  system.actors().spawn([&](caf::event_based_actor* self) {
    const Duration long_time = std::chrono::hours{1};
    const auto note = [&](JobId job) { answers.push_back(std::to_string(job.value)); };
    self->send(clerk, Wakeup{[&] { heard.emplace_back("wakeup"); }});
    self->request(clerk, long_time, hold_atom_v, JobId{1}).then(note);
    self->request(clerk, long_time, cancel_atom_v, JobId{2}).then(note);
    self->request(clerk, long_time, CostQuestion{}).then([&](const std::string& answer) {
      answers.push_back(answer);
    });
  });
  system.time().drain();
  EXPECT_THAT(heard, testing::ElementsAre("cancel", "query", "wakeup", "hold"));
  EXPECT_THAT(answers, testing::ElementsAre("2", "answer to cost", "1"));
  system.end(clerk);
}

class LinkedSystem : public caf::actor_system_config {
 public:
  LinkedSystem() {
    add_messages(*this);
    load<caf::io::middleman>();
    set("scheduler.max-threads", 1);
  }
};

TEST(UsersFirst, WhoAsksOverALinkBetweenNodesIsAnsweredToo) {
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
  }
  caf::anon_send_exit(clerk, caf::exit_reason::kill);
}

}  // namespace
}  // namespace muster
