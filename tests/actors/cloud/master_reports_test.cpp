#include "actors/cloud/master_reports.hpp"

#include <gmock/gmock.h>

#include "tests/actors/cloud/cloud_parts.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;

/// Reports as masters are told them; a master that is not named is none of those that were met.
class MasterReportsTest : public test::CloudParts {
 protected:
  MasterReportsTest() { offerings_.recall(); }
  OfferingChange change_at(double s, double usd_h) {
    desk_->run_until_s(s);
    offerings_.hear({it3_at(usd_h), {}});
    return offerings_.changes().back();
  }
};

TEST_F(MasterReportsTest, EachReportSaysTheTimeAndTheNewestChange) {
  change_at(5, 1);
  desk_->run_until_s(9);
  reports_.tell({}, {InstanceId{1}, CloudReportKind::up, at_s(2)});
  ASSERT_EQ(reported_.size(), 1U);
  EXPECT_EQ(reported_[0].at, at_s(2));
  EXPECT_EQ(reported_[0].now, at_s(9));
  EXPECT_EQ(reported_[0].last_change, 1U);
}

TEST_F(MasterReportsTest, AGreetingIsAnsweredWithNumbersAndPrices) {
  book_.note_number(InstanceId{7});
  change_at(5, 1);
  change_at(6, 2);
  reports_.greet({});
  ASSERT_EQ(reported_.size(), 1U);
  EXPECT_EQ(reported_[0].kind, CloudReportKind::clock);
  EXPECT_THAT(reported_[0].newest, ElementsAre(InstanceId{7}));
  ASSERT_EQ(reported_[0].changes.size(), 2U);
  EXPECT_EQ(reported_[0].changes[0].number, 1U);
}

TEST_F(MasterReportsTest, AGreetingIsAnsweredWhenNothingHasChanged) {
  reports_.greet({});
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::clock));
}

TEST_F(MasterReportsTest, AMasterHearsOfAnInstanceHowFarItHasCome) {
  RentedBook::Rented rented{record_of(1), {}};
  reports_.tell_state(rented);
  EXPECT_TRUE(reported_.empty());
  rented.record.up_at = at_s(3);
  rented.record.notice = at_s(8);
  reports_.tell_state(rented);
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::up, CloudReportKind::notice));
  EXPECT_EQ(reported_[0].at, at_s(3));
  EXPECT_EQ(reported_[1].at, at_s(8));
}

TEST_F(MasterReportsTest, AnInstanceThatIsGoneIsBilledAndARefusedOneIsNot) {
  RentedRecord record = record_of(1);
  record.up_at = at_s(3);
  record.gone_at = at_s(8);
  record.reason = CloudReason::ended;
  reports_.tell_over(record, {});
  record.refused = true;
  reports_.tell_over(record, {});
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::gone, CloudReportKind::refused));
  EXPECT_EQ(reported_[0].at, at_s(8));
  EXPECT_EQ(reported_[0].billed_from, at_s(3));
  EXPECT_EQ(reported_[0].reason, CloudReason::ended);
  EXPECT_EQ(reported_[1].billed_from, std::nullopt);
}

TEST_F(MasterReportsTest, EachMasterThatWasMetIsToldOfAChangeOnce) {
  test::VirtualSystem system;
  std::vector<test::Heard> heard;
  const test::ListeningMaster one = test::spawn_listening_master(system, heard);
  const test::ListeningMaster other = test::spawn_listening_master(system, heard);
  std::vector<MasterForCloud> told;
  MasterReports reports(book_, offerings_, desk_,
                        [&](const MasterForCloud& master, CloudReport) { told.push_back(master); });
  const OfferingChange change = change_at(5, 1);
  reports.meet(MasterForCloud{});
  for (const auto& master : {one, other, one}) reports.meet(MasterForCloud{master});
  reports.tell_change(change);
  EXPECT_THAT(told, ElementsAre(MasterForCloud{one}, MasterForCloud{other}));
  reports.clear();
  reports.tell_change(change);
  EXPECT_EQ(told.size(), 2U);
  system.end(one);
  system.end(other);
}

}  // namespace
}  // namespace muster
