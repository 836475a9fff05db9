#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/cloud/cloud_offerings.hpp"
#include "actors/cloud/cloud_writer.hpp"
#include "actors/cloud/master_reports.hpp"
#include "actors/cloud/rented_book.hpp"
#include "tests/actors/cloud/cloud_desk.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/memory_cloud_store.hpp"
#include "tests/support/scripted_cloud.hpp"

// The parts of a cloud connector without the connector: a test is in the place of its actor.

namespace muster::test {

/// A clock that a test turns, a log, and turns that are over at once.
class PartsDesk final : public ConnectorHost {
 public:
  Instant now() const override { return desk_.now(); }
  Instant billed_now() const override { return floor_to(now(), quantum); }
  void note(const std::string& text) const override { notes.push_back(text); }
  void at(Instant when, std::function<void()> step) override { desk_.at(when, std::move(step)); }
  void run(std::function<void()> step) override { step(); }
  void tell(ProviderNews news) override {
    if (on_news) on_news(std::move(news));
  }
  void run_until_s(double s) { desk_.run_until_s(s); }

  Duration quantum{};
  mutable std::vector<std::string> notes;
  std::function<void(ProviderNews)> on_news;

 private:
  Desk desk_;
};

/// A book, a writer, offerings and reports around a store that a test can fill or slow down.
class CloudParts : public ::testing::Test {
 protected:
  CloudParts() {
    setup_.catalog = &catalog_;
    setup_.store = &store_;
    setup_.provider = &remote_;
    setup_.bill = &bill_;
  }

  static RentedRecord record_of(std::uint64_t id, Market market = Market::on_demand) {
    RentedRecord record;
    record.instance = InstanceId{id};
    record.type = "it3";
    record.market = market;
    record.price = Price::from_usd_h(market == Market::spot ? 0.08 : 0.8);
    return record;
  }
  /// A rented instance that is on record, up since that second.
  void rent(RentedRecord record, std::optional<double> up_at_s = {}) {
    if (up_at_s) record.up_at = at_s(*up_at_s);
    store_.records[record.instance] = record;
    book_.add({record, {}});
  }
  const RentedRecord& stored(std::uint64_t id) const { return store_.records.at(InstanceId{id}); }
  static Offering it3_at(double usd_h) {
    return {"it3", Market::on_demand, {}, Price::from_usd_h(usd_h)};
  }
  /// Has what waits in a slow store written down, and what follows from it at once.
  void flush() {
    store_.slow = false;
    store_.flush();
  }
  static Money charge(double usd_h, double seconds) {
    return Money::of(Price::from_usd_h(usd_h), from_seconds(seconds));
  }
  std::vector<CloudReportKind> told() const {
    std::vector<CloudReportKind> kinds;
    for (const CloudReport& report : reported_) kinds.push_back(report.kind);
    return kinds;
  }
  virtual void on_settle(InstanceId id) { settled_.push_back(id); }
  virtual void on_renew(InstanceId id) { renewed_.push_back(id); }

  Catalog catalog_ = it3_on_both_markets();
  MemoryCloudStore store_;
  ScriptedCloud remote_{catalog_};
  CloudBill bill_;
  ConnectorSetup setup_;
  std::shared_ptr<PartsDesk> desk_ = std::make_shared<PartsDesk>();
  std::vector<InstanceId> settled_, renewed_;
  std::vector<CloudReport> reported_;
  RentedBook book_{bill_, 100};
  CloudWriter writer_{store_, desk_, [this](InstanceId id) { on_settle(id); }};
  CloudOfferings offerings_{
      setup_,
      book_,
      writer_,
      {desk_, [this](const OfferingChange& change) { announced_.push_back(change); },
       [this](InstanceId id) { on_settle(id); }, [this](InstanceId id) { on_renew(id); }}};
  MasterReports reports_{book_, offerings_, desk_,
                         [this](const MasterForCloud&, CloudReport report) {
                           reported_.push_back(std::move(report));
                         }};
  std::vector<OfferingChange> announced_;
};

}  // namespace muster::test
