#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/cloud/cloud_provider.hpp"
#include "actors/cloud/machine_backend.hpp"
#include "tests/support/builders.hpp"

// What stands around a cloud provider in its tests.

namespace muster::test {

/// A connector that has everything on record at once, and a clock that a test turns.
class Desk final : public CloudHost {
 public:
  Instant now() const override { return now_; }
  void at(Instant when, std::function<void()> step) override {
    steps_.emplace(std::max(when, now_), std::move(step));
  }
  void run(std::function<void()> step) override { step(); }
  void tell(ProviderNews news) override {
    heard.push_back(news);
    const Instant at = news.at.value_or(now_);
    if (news.recorded) news.recorded(at);
  }
  void run_until_s(double s) {
    while (!steps_.empty() && steps_.begin()->first <= at_s(s)) {
      auto step = steps_.extract(steps_.begin());
      now_ = std::max(now_, step.key());
      step.mapped()();
    }
    now_ = at_s(s);
  }
  /// What is due meanwhile comes at the end of that time.
  void sleep_until_s(double s) {
    now_ = at_s(s);
    run_until_s(s);
  }
  std::vector<ProviderNewsKind> kinds_of(std::uint64_t id) const {
    std::vector<ProviderNewsKind> kinds;
    for (const ProviderNews& news : heard) {
      if (news.instance == InstanceId{id} && news.kind != ProviderNewsKind::note)
        kinds.push_back(news.kind);
    }
    return kinds;
  }

  std::vector<ProviderNews> heard;

 private:
  Instant now_;
  std::multimap<Instant, std::function<void()>> steps_;
};

/// Machines that are there at once and end at once.
class QuickMachines final : public MachineBackend {
 public:
  Expected<std::string, MachineError> boot(const MachineOrder& order) override {
    running.insert(order.instance);
    return std::string("machine");
  }
  bool halt(InstanceId id, const std::string&, Duration, std::function<void()>) override {
    running.erase(id);
    return true;
  }
  bool adopt(const RentedRecord& record) override { return running.contains(record.instance); }
  bool has_room(std::size_t) const override { return room; }

  std::set<InstanceId> running;
  bool room = true;
};

/// One type, "it3", on both markets: up after 10 s, ready after 100 s, gone after 1 s.
inline Catalog it3_on_both_markets() {
  std::vector<InstanceType> types = {table3_catalog().types()[2]};
  types[0].spot = Price::from_usd_h(0.08);
  return Catalog(std::move(types));
}

}  // namespace muster::test
