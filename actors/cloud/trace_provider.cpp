#include "actors/cloud/trace_provider.hpp"

#include <algorithm>
#include <set>
#include <utility>

// The loopback cloud with another market: orders and offerings are looked at here, instances are
// the other provider's. All that it knows follows from the series and the time.

namespace muster {

/// Passes on what the machines tell, and looks at it.
class TraceProvider::Relay final : public CloudHost {
 public:
  Relay(TraceProvider& provider, std::shared_ptr<CloudHost> host)
      : provider_(provider), host_(std::move(host)) {}

  Instant now() const override { return host_->now(); }
  void at(Instant when, std::function<void()> step) override { host_->at(when, std::move(step)); }
  void run(std::function<void()> step) override { host_->run(std::move(step)); }
  void tell(ProviderNews news) override {
    const InstanceId id = news.instance;
    if (news.kind == ProviderNewsKind::up) {
      // Its price may have risen since it was ordered.
      news.recorded = [trace = &provider_, id, recorded = std::move(news.recorded)](Instant at) {
        recorded(at);
        trace->check(id);
      };
    } else if (news.kind == ProviderNewsKind::gone) {
      news.recorded = [trace = &provider_, id, recorded = std::move(news.recorded)](Instant at) {
        recorded(at);
        trace->drop(id);
      };
    }
    host_->tell(std::move(news));
  }

 private:
  TraceProvider& provider_;
  std::shared_ptr<CloudHost> host_;
};

TraceProvider::TraceProvider(LoopbackOptions loopback, TraceOptions trace)
    : interruptions_h_(loopback.interruptions.per_h),
      machines_(std::move(loopback)),
      trace_(std::move(trace)) {}

TraceProvider::~TraceProvider() = default;

void TraceProvider::watch(std::shared_ptr<CloudHost> host,
                          const std::vector<RentedRecord>& rented) {
  host_ = std::move(host);
  for (const RentedRecord& record : rented) {
    keep(record);
  }
  // Offerings first: checks below compare orders with the present prices. No news: the connector
  // asks for all offerings when it begins.
  go_to_now();
  followed_.clear();
  machines_.watch(std::make_shared<Relay>(*this, host_), rented);
  for (const RentedRecord& record : rented) check(record.instance);
  if (!trace_.series.steps.empty()) play();
}

/// Comes to what holds now: all steps of the round until now, on what the round before left.
void TraceProvider::go_to_now() {
  const std::vector<PricePoint>& steps = trace_.series.steps;
  const Duration now = std::max(host_->now() - trace_.start, Duration{});
  Duration in_round = now;
  if (trace_.period > Duration::zero()) {
    place_.round = now / trace_.period;
    in_round = now % trace_.period;
    // Later rounds begin with what the round before has left, not with the catalog.
    if (place_.round > 0) {
      for (const PricePoint& step : steps) {
        if (step.at < trace_.period) follow(step, {});
      }
    }
  }
  while (place_.next < steps.size() && steps[place_.next].at <= in_round) {
    follow(steps[place_.next++], {});
  }
}

Instant TraceProvider::time_of(const Place& place) const {
  return trace_.start + trace_.period * place.round + trace_.series.steps[place.next].at;
}

/// Follows the steps that are due, tells what has changed, and waits for the next one.
void TraceProvider::play() {
  const std::vector<PricePoint>& steps = trace_.series.steps;
  const Instant now = host_->now();
  std::set<Key> revoked;
  while (true) {
    const bool over = place_.next >= steps.size() ||
                      (trace_.period > Duration::zero() && steps[place_.next].at >= trace_.period);
    if (over) {
      if (trace_.period <= Duration::zero()) break;
      place_ = {place_.round + 1, 0};
    }
    const Instant at = time_of(place_);
    if (at > now) {
      host_->at(at, [this] { play(); });
      break;
    }
    const PricePoint& step = steps[place_.next++];
    follow(step, at);
    if (step.revoke) revoked.insert(key_of(step.offering));
  }
  const std::map<Key, Followed> followed = std::exchange(followed_, {});
  tell(followed);
  // Revocations after prices, so that masters see why.
  for (const auto& [type, market, zone] : revoked) {
    take_back({type, market, zone}, CloudReason::reclaimed);
    // An order of whichever zone is taken back only when no zone is left.
    const Key whichever{type, market, std::string{}};
    const auto left = offered_.find(whichever);
    if (left != offered_.end() && !left->second.available) {
      take_back(whichever, CloudReason::reclaimed);
    }
  }
  for (const auto& [key, offering] : followed) {
    for (const InstanceId id : ordered(key)) check(id);
  }
}

void TraceProvider::follow(const PricePoint& step, Instant at) {
  const Key key = key_of(step.offering);
  set(step.offering, at);
  if (!step.offering.zone.empty()) follow_zones(key, at);
}

/// Follows the offering without a zone of that type.
void TraceProvider::follow_zones(const Key& zone, Instant at) {
  const auto& [type, market, name] = zone;
  Offering cheapest{type, market, {}, {}, false};
  bool any = false;
  // Keys are sorted by type, market and zone: the zones of one stand together.
  for (auto each = offered_.lower_bound({type, market, std::string{}}); each != offered_.end();
       ++each) {
    const Offering& other = each->second;
    if (other.type != type || other.market != market) break;
    if (other.zone.empty()) continue;
    const bool better =
        other.available != cheapest.available ? other.available : other.price < cheapest.price;
    if (any && !better) continue;
    cheapest.price = other.price;
    cheapest.available = other.available;
    any = true;
  }
  set(cheapest, at);
}

void TraceProvider::set(const Offering& offering, Instant at) {
  Offering told = offering;
  // A series speaks of prices and of what can be had; how often instances are taken back besides
  // is a property of the machines, and policies have to hear it of every spot offering.
  if (told.market == Market::spot) told.interruptions_h = interruptions_h_;
  Offering& now = offered_[key_of(told)];
  Followed& followed = followed_.try_emplace(key_of(told), Followed{now, at}).first->second;
  if (!(now == told)) followed.at = at;
  now = std::move(told);
}

void TraceProvider::keep(const RentedRecord& order) {
  const Key key{order.type, order.market, order.zone};
  orders_[order.instance] = {key, order.max_price};
  ordered_[key].insert(order.instance);
}

void TraceProvider::drop(InstanceId id) {
  const auto order = orders_.extract(id);
  if (order.empty()) return;
  const auto others = ordered_.find(order.mapped().key);
  others->second.erase(id);
  if (others->second.empty()) ordered_.erase(others);
}

std::set<InstanceId> TraceProvider::ordered(const Key& key) const {
  const auto found = ordered_.find(key);
  return found == ordered_.end() ? std::set<InstanceId>{} : found->second;
}

std::vector<Offering> TraceProvider::offerings() const {
  std::vector<Offering> all;
  for (Offering& offering : machines_.offerings()) {
    if (!offered_.contains(key_of(offering))) all.push_back(std::move(offering));
  }
  for (const auto& [key, offering] : offered_) all.push_back(offering);
  return all;
}

void TraceProvider::launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) {
  if (orders_.contains(order.instance)) return machines_.launch(order, std::move(done));
  const Key key{order.type, order.market, order.zone};
  RentedRecord asked = order;
  if (const auto offered = offered_.find(key); offered != offered_.end()) {
    const Offering& offering = offered->second;
    if (!offering.available) {
      return done({LaunchResult::capacity, order.type + " is not available there now"});
    }
    if (order.max_price > Price{} && order.max_price < offering.price) {
      return done({LaunchResult::price, order.type + " costs more than that now"});
    }
    // The price was compared here; the machines' own would be the catalog's.
    asked.max_price = {};
  } else if (!order.zone.empty()) {
    return done({LaunchResult::capacity, "there is no " + order.type + " in " + order.zone});
  }
  // Known only when it is granted: a refused order is not checked against later prices.
  machines_.launch(asked, [this, order, done = std::move(done)](LaunchAnswer answer) {
    if (answer.result == LaunchResult::granted) keep(order);
    done(std::move(answer));
  });
}

/// One piece of news an offering, however many steps were due: steps that undo each other are no
/// news. Each has the time of its step, which is when it costs something else, however late that is
/// told.
void TraceProvider::tell(const std::map<Key, Followed>& followed) {
  std::vector<ProviderNews> all;
  for (const auto& [key, change] : followed) {
    const Offering& offering = offered_.at(key);
    if (change.before == offering) continue;
    ProviderNews& news = all.emplace_back();
    news.kind = ProviderNewsKind::offering;
    news.at = change.at;
    news.offering = offering;
  }
  // Times of changes never go back: the first one to be told must not be the latest.
  std::stable_sort(all.begin(), all.end(),
                   [](const ProviderNews& a, const ProviderNews& b) { return *a.at < *b.at; });
  for (ProviderNews& news : all) host_->tell(std::move(news));
}

void TraceProvider::take_back(const Key& key, CloudReason reason) {
  for (const InstanceId id : ordered(key)) machines_.take_back(id, reason);
}

/// Takes it back when it costs more than its order allows.
void TraceProvider::check(InstanceId id) {
  const auto order = orders_.find(id);
  if (order == orders_.end() || order->second.max_price <= Price{}) return;
  const auto offered = offered_.find(order->second.key);
  if (offered == offered_.end() || offered->second.price <= order->second.max_price) return;
  machines_.take_back(id, CloudReason::price);
}

}  // namespace muster
