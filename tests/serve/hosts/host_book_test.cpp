#include "serve/hosts/host_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "actors/link/join_pki.hpp"
#include "actors/link/pki.hpp"
#include "serve/hosts/book_file.hpp"
#include "tests/serve/hosts/host_book_fixture.hpp"

namespace muster::hosts {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(HostBookTest, a_machine_is_of_the_largest_type_that_fits_it) {
  EXPECT_EQ(book_->join(request(token()), "k")->type, "large");
  EXPECT_EQ(book_->join(request(token(), {3, 8, 0, 100}), "l")->type, "small");
  EXPECT_EQ(book_->join(request(token(), {0, 0, 0, 0}), "m").error().code, kHostUnfit);
}

TEST_F(HostBookTest, a_token_lets_in_as_many_keys_as_it_says) {
  const JoinToken by = token(2);
  EXPECT_EQ(book_->join(request(by), "one")->host, 1u);
  EXPECT_EQ(book_->join(request(by), "two")->host, 2u);
  EXPECT_EQ(book_->join(request(by), "one")->host, 1u) << "the answer may have been lost";
  EXPECT_THAT(book_->join(request(by), "three").error().message, HasSubstr("used up"));
  open();
  EXPECT_EQ(book_->join(request(by), "two")->host, 2u) << "also after a restart";
  EXPECT_FALSE(book_->join(request(by), "three"));
  ASSERT_TRUE(book_->revoke_token(by.id).has_value());
  EXPECT_EQ(book_->join(request(by), "two").error().code, kHostForbidden);
}

TEST_F(HostBookTest, tokens_that_are_unknown_revoked_or_over_let_nobody_in) {
  JoinToken by = token();
  JoinToken other = by;
  other.secret = std::string(32, '0');
  EXPECT_EQ(book_->join(request(other), "k").error().code, kHostForbidden);
  ASSERT_TRUE(book_->revoke_token(by.id).has_value());
  EXPECT_THAT(book_->join(request(by), "k").error().message, HasSubstr("revoked"));
  by = token(1, 10);
  wall_s_ += 11;
  EXPECT_THAT(book_->join(request(by), "k").error().message, HasSubstr("expired"));
}

TEST_F(HostBookTest, a_machine_whose_clock_is_far_off_is_told_so) {
  JoinRequest early = request(token());
  early.now_s -= 86'400;
  EXPECT_THAT(book_->join(early, "k").error().message, HasSubstr("86400 s behind"));
  early.now_s += 2 * 86'400;
  EXPECT_THAT(book_->join(early, "k").error().message, HasSubstr("86400 s ahead of"));
}

TEST_F(HostBookTest, an_instance_has_a_free_machine_of_its_type_for_itself) {
  add_host("k");
  EXPECT_FALSE(book_->reserve(InstanceId{1}, "small"));
  EXPECT_TRUE(book_->reserve(InstanceId{1}, "large"));
  EXPECT_TRUE(book_->reserve(InstanceId{1}, "large")) << "repeated";
  EXPECT_FALSE(book_->reserve(InstanceId{2}, "large"));
  EXPECT_THAT(told("k"), IsEmpty()) << "it is only kept";
  EXPECT_EQ(book_->begin(InstanceId{1}), "host-1");
  EXPECT_THAT(told("k"), ElementsAre(InstanceId{1}));
  open();
  EXPECT_TRUE(book_->has(InstanceId{1})) << "the machine may have heard of it";
}

TEST_F(HostBookTest, a_machine_is_free_when_it_says_that_nothing_is_left) {
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  told("k");
  bool ended = false;
  EXPECT_FALSE(book_->end(InstanceId{1}, [&] { ended = true; }));
  EXPECT_THAT(told("k", {InstanceId{1}}), IsEmpty());
  EXPECT_FALSE(ended);
  EXPECT_FALSE(book_->reserve(InstanceId{2}, "large"));
  told("k");
  EXPECT_TRUE(ended);
  EXPECT_TRUE(book_->reserve(InstanceId{2}, "large"));
}

TEST_F(HostBookTest, an_instance_of_which_no_machine_has_heard_ends_at_once) {
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  EXPECT_TRUE(book_->end(InstanceId{1}, {}));
  EXPECT_THAT(told("k"), IsEmpty());
}

TEST_F(HostBookTest, a_machine_is_given_up_after_its_lease_and_the_margin_and_not_before) {
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  told("k");
  since_boot_ += lease_ + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
  since_boot_ += seconds{1};
  book_->sweep();
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}));
  EXPECT_EQ(book_->list().front().state, HostState::lost);
  EXPECT_THAT(told("k", {InstanceId{1}}), IsEmpty()) << "what it still has is to end";
  EXPECT_FALSE(book_->reserve(InstanceId{2}, "large")) << "it is not empty yet";
}

TEST_F(HostBookTest, a_connector_that_starts_waits_for_a_whole_lease) {
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  told("k");
  since_boot_ += seconds{50};
  open();
  since_boot_ += lease_ + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
  since_boot_ += seconds{1};
  book_->sweep();
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}));
}

TEST_F(HostBookTest, a_file_that_is_missing_is_an_error_while_instances_run) {
  add_host("k");
  take_folder();
  std::filesystem::create_directories(folder());
  EXPECT_TRUE(try_open(0).has_value());
  const auto opened = try_open(2);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, kHostStorage);
  EXPECT_THAT(opened.error().message, HasSubstr("hosts.json: is missing"));
  EXPECT_THAT(opened.error().message, HasSubstr("2 instances"));
}

TEST_F(HostBookTest, a_longer_lease_of_the_process_before_holds_on) {
  add_host("k");
  run("k", InstanceId{1});
  lease_ = seconds{10};
  open();
  since_boot_ += seconds{60} + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
  open();
  since_boot_ += seconds{60} + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty()) << "it has not heard of another lease yet";
  since_boot_ += seconds{1};
  book_->sweep();
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}));
}

TEST_F(HostBookTest, an_answer_with_a_shorter_lease_may_have_got_lost) {
  add_host("k");
  run("k", InstanceId{1});
  lease_ = seconds{10};
  open();
  told("k", {InstanceId{1}});
  since_boot_ += seconds{60} + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
  told("k", {InstanceId{1}});
  open();
  since_boot_ += seconds{11} + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(HostBookTest, a_lease_without_an_end_holds_on_until_its_machine_is_heard) {
  lease_ = {};
  open();
  add_host("k");
  run("k", InstanceId{1});
  lease_ = seconds{10};
  open();
  since_boot_ += seconds{100'000};
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
  told("k", {InstanceId{1}});
  since_boot_ += seconds{11} + kLeaseMargin;
  book_->sweep();
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}));
}

TEST_F(HostBookTest, a_machine_is_not_lost_by_an_admins_word_before_its_lease_is_over) {
  add_host("k");
  run("k", InstanceId{1});
  since_boot_ += seconds{20};
  EXPECT_THAT(book_->declare_lost(1, false).error().message, HasSubstr("for 45 s more"));
  open();
  EXPECT_THAT(book_->declare_lost(1, false).error().message, HasSubstr("for 65 s more"));
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(HostBookTest, a_file_that_cannot_be_written_ends_no_lease) {
  add_host("k");
  add_host("l");
  run("k", InstanceId{1});
  ASSERT_TRUE(book_->reserve(InstanceId{2}, "large"));
  book_->begin(InstanceId{2});
  take_folder();
  EXPECT_THAT(told("k", {InstanceId{1}}), ElementsAre(InstanceId{1}));
  EXPECT_THAT(told("l"), IsEmpty()) << "an order that is not in the file";
  EXPECT_THAT(book_->list().front().trouble, HasSubstr("hosts.json"));
  EXPECT_EQ(notes_.size(), 3u) << "two machines have joined, and the trouble is noted once";
  give_folder();
  EXPECT_THAT(told("l"), ElementsAre(InstanceId{2}));
}

TEST_F(HostBookTest, a_join_that_is_not_in_the_file_is_not_answered) {
  const JoinToken by = token();
  take_folder();
  EXPECT_EQ(book_->join(request(by), "k").error().code, kHostStorage);
  EXPECT_EQ(book_->join(request(by), "k").error().code, kHostStorage) << "asked again";
  give_folder();
  EXPECT_EQ(book_->join(request(by), "k")->host, 1u);
  open();
  EXPECT_EQ(book_->list().size(), 1u);
}

TEST_F(HostBookTest, a_machine_with_trouble_is_taken_after_the_others) {
  add_host("k");
  add_host("l");
  ASSERT_TRUE(book_->report("k", {"r", "b", {4, 8, 0, 100}, {}, "no disk"}).has_value());
  ASSERT_TRUE(book_->reserve(InstanceId{1}, "large"));
  EXPECT_EQ(book_->begin(InstanceId{1}), "host-2");
  ASSERT_TRUE(book_->reserve(InstanceId{2}, "large"));
  EXPECT_EQ(book_->begin(InstanceId{2}), "host-1");
}

TEST_F(HostBookTest, no_machine_joins_whose_row_the_file_has_no_room_for) {
  JoinRequest large = request(token());
  large.labels["text"] = std::string(kMaxHostBytes, 'x');
  EXPECT_EQ(book_->join(large, "k").error().code, kHostConflict);
  add_host("l");
  open();
  EXPECT_EQ(book_->list().size(), 1u);
}

TEST_F(HostBookTest, without_a_lease_an_admin_says_that_a_machine_is_lost) {
  lease_ = {};
  open();
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  told("k");
  EXPECT_EQ(book_->declare_lost(1, false).error().code, kHostConflict) << "it reports";
  since_boot_ += seconds{100'000};
  book_->sweep();
  EXPECT_THAT(lost_, IsEmpty());
  EXPECT_TRUE(book_->declare_lost(1, false).has_value());
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}));
}

TEST_F(HostBookTest, a_copy_of_a_machine_is_refused) {
  add_host("k");
  EXPECT_TRUE(report("k", {}, "second").has_value()) << "a daemon that was started again";
  EXPECT_EQ(report("k", {}, "r").error().code, kHostConflict);
}

TEST_F(HostBookTest, a_copy_that_begins_beside_the_machine_changes_nothing) {
  add_host("k");
  EXPECT_EQ(report("k", {}, "copy", "other boot").error().code, kHostConflict);
  EXPECT_TRUE(report("k").has_value()) << "the machine goes on";
}

TEST_F(HostBookTest, a_machine_that_has_booted_again_goes_on) {
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  told("k");
  since_boot_ += seconds{6};
  const auto answer = report("k", {}, "later", "other boot");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->instances.front().instance, InstanceId{1});
}

TEST_F(HostBookTest, a_copy_that_has_put_the_machine_out_is_said_in_its_trouble) {
  add_host("k");
  since_boot_ += seconds{6};
  EXPECT_TRUE(report("k", {}, "copy", "other boot").has_value());
  EXPECT_THAT(book_->list().front().trouble, IsEmpty());
  EXPECT_EQ(report("k").error().code, kHostConflict) << "the machine itself";
  EXPECT_THAT(book_->list().front().trouble, HasSubstr("muster hosts remove 1"));
  since_boot_ += seconds{601};
  EXPECT_THAT(book_->list().front().trouble, IsEmpty()) << "it was not heard for long";
}

TEST_F(HostBookTest, after_a_start_the_machine_wins_over_a_copy_that_reports_first) {
  add_host("k");
  since_boot_ += seconds{100};
  open();
  const auto copy = report("k", {}, "copy", "other boot");
  ASSERT_FALSE(copy.has_value());
  EXPECT_THAT(copy.error().message, HasSubstr("in 15 s"));
  EXPECT_TRUE(report("k").has_value()) << "the machine goes on";
  since_boot_ += first_reports(seconds{1});
  EXPECT_TRUE(report("k").has_value());
  EXPECT_EQ(report("k", {}, "copy", "other boot").error().code, kHostConflict);
}

TEST_F(HostBookTest,
       a_machine_that_boots_while_the_connector_is_away_is_heard_soon_after_its_start) {
  add_host("k");
  since_boot_ += seconds{100};
  open();
  EXPECT_FALSE(report("k", {}, "later", "other boot").has_value());
  since_boot_ += first_reports(seconds{1}) + seconds{1};
  EXPECT_TRUE(report("k", {}, "later", "other boot").has_value());
  EXPECT_EQ(report("k").error().code, kHostConflict) << "its daemon of before is a copy by now";
}

TEST_F(HostBookTest, a_daemon_that_begins_anew_on_its_boot_is_heard_at_once) {
  add_host("k");
  open();
  EXPECT_TRUE(report("k", {}, "second").has_value());
}

TEST_F(HostBookTest, a_drained_machine_is_given_to_nobody_until_it_is_resumed) {
  add_host("k");
  EXPECT_EQ(book_->free_machines().at("large"), 1u);
  ASSERT_TRUE(book_->change(1, {true, {}}).has_value());
  EXPECT_THAT(book_->free_machines(), IsEmpty());
  EXPECT_FALSE(book_->reserve(InstanceId{1}, "large"));
  open();
  told("k");
  EXPECT_FALSE(book_->reserve(InstanceId{1}, "large")) << "also after a start";
  EXPECT_TRUE(book_->list().front().drained);
  ASSERT_TRUE(book_->change(1, {false, {}}).has_value());
  EXPECT_TRUE(book_->reserve(InstanceId{1}, "large"));
}

TEST_F(HostBookTest, a_sweep_tells_when_other_machines_are_free_than_before) {
  add_host("k");
  book_->sweep();
  EXPECT_EQ(rooms_told_, 1);
  book_->sweep();
  EXPECT_EQ(rooms_told_, 1);
  book_->reserve(InstanceId{1}, "large");
  EXPECT_EQ(rooms_told_, 2) << "at once";
  book_->sweep();
  EXPECT_EQ(rooms_told_, 2);
  book_->end(InstanceId{1}, {});
  since_boot_ += seconds{6};
  book_->sweep();
  EXPECT_EQ(rooms_told_, 2) << "it is silent";
}

TEST_F(HostBookTest, a_machine_that_comes_free_soon_after_one_was_taken_is_told_of) {
  add_host("k");
  book_->sweep();
  book_->reserve(InstanceId{1}, "large");
  book_->end(InstanceId{1}, {});
  const int before = rooms_told_;
  book_->sweep();
  EXPECT_EQ(rooms_told_, before + 1) << "as many are free as by the sweep before";
}

TEST_F(HostBookTest, labels_are_changed_one_by_one) {
  add_host("k");
  ASSERT_TRUE(book_->change(1, {{}, {{"rack", "3"}, {"disk", "nvme"}}}).has_value());
  ASSERT_TRUE(book_->change(1, {{}, {{"rack", "4"}, {"disk", ""}}}).has_value());
  open();
  EXPECT_EQ(book_->list().front().labels, (Labels{{"rack", "4"}}));
  Labels many;
  for (int i = 0; i < 17; ++i) many["k" + std::to_string(i)] = "v";
  EXPECT_EQ(book_->change(1, {{}, many}).error().code, kHostConflict);
}

TEST_F(HostBookTest, a_machine_that_reports_is_given_up_or_removed_by_force) {
  add_host("k");
  run("k", InstanceId{1});
  told("k", {InstanceId{1}});
  EXPECT_EQ(book_->declare_lost(1, false).error().code, kHostConflict);
  ASSERT_TRUE(book_->declare_lost(1, true).has_value());
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}));
  EXPECT_THAT(told("k", {InstanceId{1}}), IsEmpty()) << "what it still has is to end";
  told("k");
  run("k", InstanceId{2});
  EXPECT_EQ(book_->remove(1, false).error().code, kHostConflict);
  ASSERT_TRUE(book_->remove(1, true).has_value());
  EXPECT_THAT(lost_, ElementsAre(InstanceId{1}, InstanceId{2}));
  EXPECT_EQ(report("k").error().code, kHostUnknown);
}

TEST_F(HostBookTest, the_end_of_an_instance_is_in_the_file_within_a_bound) {
  add_host("k");
  run("k", InstanceId{1});
  book_->end(InstanceId{1}, {});
  take_folder();
  told("k");
  EXPECT_THAT(book_->list().front().trouble, IsEmpty()) << "nothing was to be written";
  EXPECT_TRUE(book_->reserve(InstanceId{2}, "large"));
  give_folder();
  book_->end(InstanceId{2}, {});
  const auto lists_it = [this] {
    std::ifstream file(folder() / "hosts.json");
    return std::string(std::istreambuf_iterator<char>(file), {}).find("instance") !=
           std::string::npos;
  };
  book_->sweep();
  EXPECT_TRUE(lists_it());
  since_boot_ += kLateWrite;
  book_->sweep();
  EXPECT_FALSE(lists_it());
}

TEST_F(HostBookTest, a_change_that_could_not_be_written_is_written_later_by_itself) {
  add_host("k");
  take_folder();
  EXPECT_EQ(book_->change(1, {true, {}}).error().code, kHostStorage);
  give_folder();
  since_boot_ += kLateWrite;
  book_->sweep();
  EXPECT_THAT(book_->list().front().trouble, IsEmpty());
  open();
  EXPECT_TRUE(book_->list().front().drained);
}

TEST_F(HostBookTest, the_margin_of_a_long_lease_bears_the_drift_of_clocks) {
  EXPECT_EQ(lease_margin(seconds{600}), seconds{5});
  EXPECT_EQ(lease_margin(std::chrono::hours{10}), seconds{18});
}

TEST_F(HostBookTest, a_machine_that_was_removed_is_unknown) {
  add_host("k");
  book_->reserve(InstanceId{1}, "large");
  EXPECT_EQ(book_->remove(1, false).error().code, kHostConflict);
  book_->end(InstanceId{1}, {});
  EXPECT_TRUE(book_->remove(1, false).has_value());
  EXPECT_EQ(report("k").error().code, kHostUnknown);
}

TEST_F(HostBookTest, a_certificate_is_for_the_machine_that_has_the_instance) {
  add_host("k");
  add_host("l");
  book_->reserve(InstanceId{1}, "large");
  book_->begin(InstanceId{1});
  EXPECT_TRUE(book_->may_certify("k", InstanceId{1})) << "not on the disk yet";
  told("k");
  EXPECT_FALSE(book_->may_certify("k", InstanceId{1}));
  EXPECT_TRUE(book_->may_certify("l", InstanceId{1}));
}

}  // namespace
}  // namespace muster::hosts
