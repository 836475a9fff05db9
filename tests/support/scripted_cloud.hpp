#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "actors/cloud/cloud_provider.hpp"
#include "model/catalog.hpp"

namespace muster::test {

/// A cloud that remembers by itself what it rents out, over the lives of its connectors, and
/// answers as a test wants. An instance is gone a second after its end.
class ScriptedCloud final : public CloudProvider {
 public:
  explicit ScriptedCloud(const Catalog& catalog) : catalog_(catalog) {}

  void watch(std::shared_ptr<CloudHost> host, const std::vector<RentedRecord>&) override {
    host_ = std::move(host);
  }
  void unwatch() override { host_.reset(); }
  std::vector<Offering> offerings() const override {
    std::vector<Offering> all;
    for (const InstanceType& type : catalog_.types()) {
      all.push_back({type.name, Market::on_demand, {}, type.on_demand});
      if (type.spot) all.push_back({type.name, Market::spot, {}, *type.spot});
    }
    for (Offering& offering : all) {
      for (const Offering& changed : changes) {
        if (changed.type == offering.type && changed.market == offering.market) offering = changed;
      }
    }
    return all;
  }
  void launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) override {
    ++launches;
    LaunchAnswer answer;
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    const bool exists_anyway = loses_answers > 0 && answer.result == LaunchResult::failed;
    if (exists_anyway) --loses_answers;
    if (answer.result == LaunchResult::granted || exists_anyway) come_up(order.instance);
    if (holds_answers) {
      held.push_back([done, answer] { done(answer); });
    } else {
      done(answer);
    }
  }
  void terminate(InstanceId id, std::function<void(EndResult)> done) override {
    ++ends;
    if (!end_results.empty()) {
      const EndResult result = end_results.front();
      end_results.pop_front();
      return done(result);
    }
    if (!exists.contains(id)) return done(EndResult::absent);
    host_->at(host_->now() + std::chrono::seconds{1}, [this, id] {
      if (exists.erase(id) > 0) tell(ProviderNewsKind::gone, id);
    });
    done(EndResult::accepted);
  }
  void list(std::function<void(FoundInstances)> done) override {
    ++lists;
    if (dumb_lists > 0) {
      --dumb_lists;
      return done({});
    }
    const FoundInstances found{true, {exists.begin(), exists.end()}, unknown, !unknown.empty()};
    if (holds_lists) {
      held.push_back([done, found] { done(found); });
    } else {
      done(found);
    }
  }

  /// What is offered is another from now on, or since that time.
  void change(const Offering& offering, std::optional<Instant> at = {}) {
    changes.push_back(offering);
    if (!host_) return;
    ProviderNews news;
    news.kind = ProviderNewsKind::offering;
    news.offering = offering;
    news.at = at;
    host_->tell(std::move(news));
  }
  void tell(ProviderNewsKind kind, InstanceId id, CloudReason reason = CloudReason::not_said) {
    ProviderNews news;
    news.kind = kind;
    news.instance = id;
    news.reason = reason;
    host_->tell(std::move(news));
  }

  Duration boot = std::chrono::seconds{1};
  std::set<InstanceId> exists;
  std::set<InstanceId> unknown;      ///< of which its lists say nothing
  std::deque<LaunchAnswer> answers;  ///< given first, before everything is granted
  std::deque<EndResult> end_results;
  int loses_answers = 0;       ///< so many launches that fail are granted all the same
  int dumb_lists = 0;          ///< so many lists are not answered
  bool holds_answers = false;  ///< to launches: they are held
  bool holds_lists = false;    ///< likewise
  std::vector<std::function<void()>> held;
  std::vector<Offering> changes;
  int launches = 0, ends = 0, lists = 0;

 private:
  void come_up(InstanceId id) {
    if (!exists.insert(id).second) return;
    host_->at(host_->now() + boot, [this, id] {
      if (exists.contains(id)) tell(ProviderNewsKind::up, id);
    });
  }

  const Catalog& catalog_;
  std::shared_ptr<CloudHost> host_;
};

}  // namespace muster::test
