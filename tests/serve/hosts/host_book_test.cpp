#include "serve/hosts/host_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "actors/link/join_pki.hpp"
#include "actors/link/pki.hpp"
#include "model/rng.hpp"
#include "serve/hosts/book_file.hpp"
#include "serve/hosts/join_desk.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::hosts {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kNow = 1'700'000'000;
const std::string kAuthority(64, 'a');

InstanceType type_of(const std::string& name, double cpus, double memory) {
  InstanceType type;
  type.name = name;
  type.capacity[Resource::cpu] = cpus;
  type.capacity[Resource::memory] = memory;
  return type;
}

/// A book on a file, whose clocks the test sets.
class HostBookTest : public testing::Test {
 protected:
  HostBookTest() {
    std::filesystem::create_directories(folder());
    open();
  }

  void open() {
    auto opened = try_open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    book_ = std::move(opened).value();
    book_->watch({[this](InstanceId id, const std::string&) { lost_.push_back(id); },
                  [this] { ++rooms_told_; }});
  }
  Expected<std::shared_ptr<HostBook>, int> try_open(std::size_t rented = 0) {
    HostBookSetup setup;
    setup.rented = rented;
    setup.file = folder() / "hosts.json";
    setup.note = [this](const std::string& text) { notes_.push_back(text); };
    setup.catalog = &catalog_;
    setup.lease = lease_;
    setup.report = seconds{1};
    setup.wall_s = [this] { return wall_s_; };
    setup.since_boot = [this] { return since_boot_; };
    setup.settings = [](InstanceId id, const InstanceType&) {
      return Expected<std::string, int>("instance = " + std::to_string(id.value));
    };
    return HostBook::open(std::move(setup));
  }
  std::filesystem::path folder() const { return scratch_.folder() / "state"; }
  /// As on a disk that is full: no file can be written until the folder is back.
  void take_folder() { std::filesystem::rename(folder(), scratch_.folder() / "away"); }
  void give_folder() { std::filesystem::rename(scratch_.folder() / "away", folder()); }
  /// The machine that reports as `key` runs the instance.
  void run(const std::string& key, InstanceId instance) {
    ASSERT_TRUE(book_->reserve(instance, "large"));
    book_->begin(instance);
    ASSERT_THAT(told(key), ElementsAre(instance));
  }

  JoinToken token(std::uint32_t hosts = 1, std::int64_t lifetime_s = 3600) {
    return book_->create_token(hosts, lifetime_s, kAuthority).value();
  }
  JoinRequest request(const JoinToken& by, Measured has = {4, 8, 0, 100}) {
    return {by.id, by.secret, "", "box", has, {}, wall_s_};
  }
  /// A machine that has joined and reported.
  void add_host(const std::string& key) {
    ASSERT_TRUE(book_->join(request(token()), key).has_value());
    ASSERT_TRUE(report(key).has_value());
  }
  Expected<ReportAnswer, int> report(const std::string& key, std::vector<InstanceId> here = {},
                                     const std::string& run = "r", const std::string& boot = "b") {
    return book_->report(key, {run, boot, {4, 8, 0, 100}, std::move(here)});
  }
  /// Instances that the machine is told to run.
  std::vector<InstanceId> told(const std::string& key, std::vector<InstanceId> here = {}) {
    std::vector<InstanceId> ids;
    const auto answer = report(key, std::move(here));
    if (!answer) return {};
    for (const WantedInstance& each : answer->instances) ids.push_back(each.instance);
    return ids;
  }

  test::TempFile scratch_{"unused", ""};
  Catalog catalog_{{type_of("small", 1, 1), type_of("large", 4, 8), type_of("huge", 64, 256)}};
  Duration lease_ = seconds{60};
  std::int64_t wall_s_ = kNow;
  Duration since_boot_ = seconds{1000};
  std::vector<InstanceId> lost_;
  std::vector<std::string> notes_;
  int rooms_told_ = 0;  ///< how often other machines were free than before
  std::shared_ptr<HostBook> book_;
};

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
  since_boot_ += kFirstReports;
  EXPECT_TRUE(report("k").has_value());
  EXPECT_EQ(report("k", {}, "copy", "other boot").error().code, kHostConflict);
}

TEST_F(HostBookTest,
       a_machine_that_boots_while_the_connector_is_away_is_heard_soon_after_its_start) {
  add_host("k");
  since_boot_ += seconds{100};
  open();
  EXPECT_FALSE(report("k", {}, "later", "other boot").has_value());
  since_boot_ += kFirstReports + seconds{1};
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
  book_->sweep();
  EXPECT_EQ(rooms_told_, 2);
  book_->end(InstanceId{1}, {});
  since_boot_ += seconds{6};
  book_->sweep();
  EXPECT_EQ(rooms_told_, 2) << "it is silent";
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

/// The desk over a real authority.
class JoinDeskTest : public HostBookTest {
 protected:
  JoinDeskTest() {
    EXPECT_TRUE(create_authorities(scratch_.folder() / "pki", {}).has_value());
    desk_ = std::make_unique<JoinDesk>(
        book_, JoinDeskSetup{scratch_.folder() / "pki", "PEM",
                             [this](const JoinPeer&, int status, const std::string& about) {
                               audited_.push_back(std::to_string(status) + " " + about);
                             }});
  }
  api::Response post(const std::string& path, const std::string& body,
                     const std::string& key = "") {
    api::Request asked;
    asked.head.method = "POST";
    asked.head.target = path;
    asked.body = body;
    return desk_->answer(asked, {"10.0.0.1", key});
  }

  std::unique_ptr<JoinDesk> desk_;
  std::vector<std::string> audited_;
};

TEST_F(JoinDeskTest, a_machine_gets_a_certificate_for_its_number_alone) {
  JoinRequest asked = request(token());
  const KeyRequest key = make_key_request().value();
  asked.request = key.request;
  const api::Response response = post(kJoinPath, to_json(asked));
  ASSERT_EQ(response.status, 201) << response.body;
  const JoinAnswer answer = join_answer_from(response.body).value();
  EXPECT_EQ(answer.host, 1u);
  const auto file = scratch_.folder() / "host.pem";
  std::ofstream(file) << answer.certificate;
  const CertificateInfo info = describe_certificates(file)->front();
  EXPECT_EQ(info.subject, "host-1");
  EXPECT_THAT(info.hosts, ElementsAre("host-1"));
  EXPECT_FALSE(info.authority);
  EXPECT_THAT(audited_, ElementsAre("201 host 1 by join token " + asked.token_id));
}

TEST_F(JoinDeskTest, a_machine_that_asks_again_is_signed_and_written_down_once) {
  JoinRequest asked = request(token());
  asked.request = make_key_request()->request;
  const std::string first = post(kJoinPath, to_json(asked)).body;
  EXPECT_EQ(post(kJoinPath, to_json(asked)).body, first);
  EXPECT_EQ(audited_.size(), 1u);
}

TEST_F(JoinDeskTest, nothing_but_joining_goes_without_a_certificate) {
  EXPECT_EQ(post(kReportPath, to_json(Report{"r", "b", {}})).status, 401);
  EXPECT_EQ(post(kCertifyPath, to_json(CertifyRequest{InstanceId{1}, ""})).status, 401);
  EXPECT_EQ(post("/v1/jobs", "{}").status, 404);
  EXPECT_EQ(post(kReportPath, to_json(Report{"r", "b", {}}), "somebody").status, 404);
}

TEST_F(JoinDeskTest, a_request_that_is_nested_deeply_is_refused) {
  const std::string nested = std::string(6000, '[') + std::string(6000, ']');
  const std::string head =
      R"({"version":1,"run":"r","boot":"b","token_id":"","secret":"","request":"",)";
  const std::string body = head + R"("name":"","measured":{"cpus":)" + nested + "}}";
  EXPECT_EQ(post(kJoinPath, body).status, 400);
  EXPECT_EQ(post(kReportPath, body, "nobody").status, 400);
}

/// Changes, adds, drops and repeats bytes, as whoever looks for a hole would.
std::string mutated(std::string text, Rng& rng) {
  const auto at = [&] { return static_cast<std::size_t>(rng.below(text.size() + 1)); };
  const std::uint64_t changes = 1 + rng.below(6);
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t place = std::min(at(), text.size() - 1);
    switch (rng.below(5)) {
      case 0:
        text[place] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(place, rng.below(20));
        break;
      case 2:
        text.insert(place, text.substr(at() / 2, rng.below(40)));
        break;
      case 3:
        text.insert(place, std::string(rng.below(30), "[{\"9\\"[rng.below(5)]));
        break;
      default:
        text.resize(place);
    }
  }
  return text;
}

TEST_F(JoinDeskTest, requests_of_chance_are_answered_and_let_nobody_in) {
  JoinRequest good = request(token());
  good.request = make_key_request()->request;
  JoinRequest used_up = good;
  used_up.secret = std::string(32, '0');
  const std::vector<std::string> bodies{to_json(used_up), to_json(Report{"r", "b", {1, 1, 0, 1}}),
                                        to_json(CertifyRequest{InstanceId{3}, good.request})};
  Rng rng(7);
  for (int i = 0; i < 5000; ++i) {
    const std::string body = mutated(bodies[rng.below(bodies.size())], rng);
    for (const char* path : {kJoinPath, kReportPath, kCertifyPath}) {
      const int status = post(path, body, "nobody").status;
      EXPECT_GE(status, 400) << body;
      EXPECT_LT(status, 500) << body;
    }
  }
  EXPECT_THAT(book_->list(), IsEmpty());
}

}  // namespace
}  // namespace muster::hosts
