#include "actors/cloud/connector.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

namespace muster {

/// The connector as its parts, its provider and its store see it. Everything that the connector
/// does is a turn; calls within a turn are part of it, calls from elsewhere become messages.
class CloudConnector::Host final : public ConnectorHost, public std::enable_shared_from_this<Host> {
 public:
  explicit Host(CloudConnector* connector)
      : connector_(connector), address_(caf::actor_cast<caf::weak_actor_ptr>(connector)) {}

  Instant now() const override { return connector_->timer_.now(); }
  Instant billed_now() const override { return floor_to(now(), connector_->setup_.quantum); }
  void note(const std::string& text) const override {
    if (connector_->setup_.note) connector_->setup_.note(text);
  }
  void at(Instant when, std::function<void()> step) override {
    connector_->timer_.at(when, [this, step = std::move(step)] { turn(step); });
  }
  void run(std::function<void()> step) override {
    // The provider answers within the connector's own call: this is its turn already.
    if (in_turn_.load() == std::this_thread::get_id()) return step();
    if (auto cloud = caf::actor_cast<CloudActor>(address_.lock())) {
      auto host = shared_from_this();
      caf::anon_send(cloud, Wakeup{[host, step = std::move(step)] { host->turn(step); }});
    }
  }
  void tell(ProviderNews news) override {
    run([this, news = std::move(news)] { connector_->on_news(news); });
  }

  template <class Step>
  void turn(const Step& step) {
    const Turn here(in_turn_);
    step();
  }

 private:
  class Turn {
   public:
    // Turns nest, as when a store answers within a turn; the outer one goes on afterwards.
    explicit Turn(std::atomic<std::thread::id>& in_turn)
        : in_turn_(in_turn), before_(in_turn.exchange(std::this_thread::get_id())) {}
    ~Turn() { in_turn_.store(before_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::atomic<std::thread::id>& in_turn_;
    std::thread::id before_;
  };

  CloudConnector* connector_;  ///< only to be used on a turn: then it is there
  caf::weak_actor_ptr address_;
  std::atomic<std::thread::id> in_turn_{};
};

// Each part knows those before it; those behind it are called through its host.
CloudConnector::CloudConnector(caf::actor_config& config, ConnectorSetup setup)
    : CloudActor::base(config),
      setup_(std::move(setup)),
      timer_(this, setup_.origin),
      host_(std::make_shared<Host>(this)),
      book_(*setup_.bill, setup_.keep_gone),
      writer_(*setup_.store, host_, [this](InstanceId id) { steps_.settle(id); }),
      offerings_(setup_, book_, writer_,
                 {host_, [this](const OfferingChange& change) { reports_.tell_change(change); },
                  [this](InstanceId id) { steps_.settle(id); },
                  [this](InstanceId id) { steps_.renew(id); }}),
      reports_(book_, offerings_, host_,
               [this](const MasterForCloud& master, CloudReport report) {
                 if (master) send(master, std::move(report));
               }),
      steps_(setup_, {book_, writer_, offerings_, reports_},
             {host_, [this](InstanceId id) { calls_.terminate(id); },
              [this](InstanceId id) { calls_.forget(id); }}),
      calls_(setup_, book_,
             {host_,
              [this](InstanceId id, ProviderNews news) {
                steps_.take(id, RentedSteps::Due::refused, std::move(news));
              },
              [this](InstanceId id, ProviderNews news) {
                steps_.take(id, RentedSteps::Due::gone, std::move(news));
              },
              [this](InstanceId id) { return steps_.is_idle(id); }}),
      orders_(*setup_.bill, {book_, writer_, offerings_, reports_}, steps_,
              {host_, [this](InstanceId id) { calls_.launch(id); }}) {}

CloudConnector::~CloudConnector() = default;

void CloudConnector::on_exit() {
  // First: news must not come to a connector that is letting go.
  setup_.provider->unwatch();
  book_.clear();
  writer_.clear();
  steps_.clear();
  reports_.clear();
}

CloudActor::behavior_type CloudConnector::make_behavior() {
  host_->turn([this] { recall(); });
  return {
      [this](launch_atom, const LaunchOrder& order, const MasterForCloud& master) {
        host_->turn([&] { orders_.rent(order, master); });
      },
      [this](end_atom, InstanceId id, const MasterForCloud& master) {
        host_->turn([&] { orders_.end(id, master); });
      },
      [this](greet_atom, const MasterForCloud& master) { reports_.greet(master); },
      [this](interrupt_atom, InstanceId id) -> caf::result<InstanceId> {
        auto promise = make_response_promise<InstanceId>();
        const auto answer = [promise](const Expected<InstanceId, ActorError>& noticed) mutable {
          if (noticed) {
            promise.deliver(noticed.value());
          } else {
            promise.deliver(caf::make_error(noticed.error().code, noticed.error().message));
          }
        };
        host_->turn([&] { steps_.interrupt(id, answer); });
        return promise;
      },
      [this](const RentedQuestion& wanted) { return book_.show(wanted, host_->billed_now()); },
      [this](figures_atom) { return figures(); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

/// Goes on where an earlier connector ended.
void CloudConnector::recall() {
  for (const auto& [master, sums] : setup_.store->dropped()) {
    setup_.bill->total += sums.charged;
    setup_.bill->launched += sums.launched;
    setup_.bill->refused += sums.refused;
    if (sums.newest > 0) book_.note_number(InstanceId{sums.newest});
  }
  offerings_.recall();
  std::vector<RentedRecord> records = setup_.store->recall();
  Instant newest =
      std::max(setup_.provider->all_ended_at().value_or(Instant{}), offerings_.last_change_at());
  for (const RentedRecord& record : records) {
    newest = std::max({newest, record.ordered_at, record.up_at.value_or(record.ordered_at),
                       record.gone_at.value_or(record.ordered_at)});
  }
  // Before anything asks for the time.
  go_on_from(newest);
  for (RentedRecord& record : records) {
    if (record.up_at) ++setup_.bill->launched;
    if (record.refused) ++setup_.bill->refused;
    if (record.refused || record.gone_at) {
      setup_.bill->total += charge_of(record, record.gone_at.value_or(host_->billed_now()));
      book_.remember(std::move(record));
      continue;
    }
    RentedBook::Rented rented{std::move(record), {}};
    rented.change_on_record = rented.record.change;
    offerings_.catch_up(rented.record);
    book_.add(std::move(rented));
  }
  book_.end_recall();
  begin();
}

/// A bill for time that has been billed already could spend more on a day than masters know of.
void CloudConnector::go_on_from(Instant newest) {
  const Duration set_back = newest - timer_.now();
  if (set_back <= Duration::zero()) return;
  timer_ = {this, ClockOrigin{setup_.origin.start - set_back}};
  host_->note(
      "the clock shows an earlier time than the cloud's store: its bills go on from there, " +
      std::to_string(set_back / std::chrono::seconds{1}) + " s ahead of the clock");
}

/// Shows the provider what is on record, and goes on with what it finds.
void CloudConnector::begin() {
  std::vector<RentedRecord> live;
  for (const auto& [id, rented] : book_.rented()) live.push_back(rented.record);
  setup_.provider->watch(host_, live);
  // Told again in full: the cloud may have changed them while no connector ran.
  for (const Offering& offering : setup_.provider->offerings()) offerings_.hear({offering});
  for (const RentedRecord& record : live) {
    if (record.ending) calls_.terminate(record.instance);
  }
  // Finds orders that never reached the cloud, and instances without a record.
  calls_.look();
}

void CloudConnector::on_news(ProviderNews news) {
  using Due = RentedSteps::Due;
  const InstanceId id = news.instance;
  switch (news.kind) {
    case ProviderNewsKind::restarted:
      ++restarts_;
      [[fallthrough]];
    case ProviderNewsKind::note:
      return host_->note("instance " + std::to_string(id.value) + ": " + news.text);
    case ProviderNewsKind::offering:
      return offerings_.hear({news.offering, news.at});
    case ProviderNewsKind::up:
      return steps_.take(id, Due::up, std::move(news));
    case ProviderNewsKind::machine:
      return steps_.take(id, Due::machine, std::move(news));
    case ProviderNewsKind::notice:
      return steps_.take(id, Due::notice, std::move(news));
    case ProviderNewsKind::ending:
      return steps_.take(id, Due::ending, std::move(news));
    case ProviderNewsKind::gone:
      return steps_.take(id, Due::gone, std::move(news));
  }
}

CloudFigures CloudConnector::figures() const {
  return {book_.rented().size(), setup_.bill->launched, setup_.bill->refused, restarts_,
          writer_.trouble()};
}

}  // namespace muster
