#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/cloud/cloud_provider.hpp"
#include "actors/cloud/rented.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/time/clock.hpp"
#include "model/catalog.hpp"
#include "model/number_set.hpp"
#include "storage/stores/cloud_store.hpp"

namespace muster {

/// What a cloud has charged and done so far. Owned by the composition root, written by the
/// connector, so that the bill can be compared with the masters' ledgers.
struct CloudBill {
  Money total;                 ///< of instances that are gone
  std::uint64_t launched = 0;  ///< instances that came up
  std::uint64_t refused = 0;
  std::uint64_t rented = 0;  ///< instances ordered and not gone yet
};

/// How a connector asks again what its provider could not do.
struct CloudRetries {
  std::uint32_t launch_tries = 5;               ///< before a launch is refused; >= 1
  Duration pause = std::chrono::seconds{1};     ///< before the second try; doubles; > 0
  Duration longest = std::chrono::seconds{60};  ///< no pause grows longer
};

struct ConnectorSetup {
  ClockOrigin origin;
  const Catalog* catalog = nullptr;  ///< what masters know of the offerings that never changed
  /// What changes a bill happens at multiples of it, counted from the last multiple before the
  /// order and never before the order itself; zero: at any time.
  Duration quantum{};
  CloudRetries retries;
  Duration list_every{};  ///< from one look at what exists to the next; zero: only when in doubt
  Duration write_retry = std::chrono::seconds{1};  ///< between attempts to write; > 0
  std::size_t keep_gone = 100'000;  ///< instances that are remembered after they are gone; >= 1
  /// Changes of offerings that are kept at most, besides the newest of each and those since the
  /// oldest order that is open; >= 1.
  std::size_t keep_changes = 10'000;
  CloudStore* store = nullptr;
  CloudProvider* provider = nullptr;  ///< of this connector alone
  CloudBill* bill = nullptr;
  std::function<void(const std::string&)>
      note;  ///< takes lines for the log of the node; may be empty
};

/// Stands between the masters and a cloud, and keeps what is the same for every cloud: who ordered
/// what, that an order that is repeated changes nothing, what it costs. Every step is in the store
/// before anything is done or told, without waiting for the disk: the connector goes on with other
/// instances meanwhile. So one that is started anew on the store goes on where the other one ended,
/// and the instants it reports are those of the store. Its time never goes behind what the store
/// says: when the clock was set back meanwhile, the cloud's goes on from the newest record for as
/// long as it lives.
class CloudConnector : public CloudActor::base {
 public:
  CloudConnector(caf::actor_config& config, ConnectorSetup setup);
  ~CloudConnector() override;
  const char* name() const override { return "muster.cloud"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  class Host;

  /// What is to be written down of an instance, in the order in which it is.
  enum class Due : std::uint8_t { end, up, machine, notice, ending, refused, gone, price };

  struct Rented {
    RentedRecord record;    ///< as it is in the store
    MasterForCloud master;  ///< who spoke of it last; invalid when nobody has since the start
    std::map<Due, ProviderNews> due{};
    std::uint32_t tries = 0;             ///< of its launch, since the start
    std::uint32_t end_tries = 0;         ///< of its end, likewise
    std::uint64_t change_on_record = 0;  ///< RentedRecord::change, as the store has it
    bool launching = false;              ///< the provider has not answered yet
    bool retries_write = false;          ///< what is due is written after a while
  };

  Instant now() const { return floor_to(timer_.now(), setup_.quantum); }
  Duration pause_after(std::uint32_t tries) const;
  bool is_being_written(InstanceId id) const { return writing_.contains(id); }
  bool defer(InstanceId id, std::function<void()> order);
  void write(const RentedRecord& record, std::function<void(bool written)> then);
  void on_written(InstanceId id, const std::string& trouble);
  void show_trouble(const std::string& trouble);
  void note(const std::string& text) const;
  /// Has the store's answer, from whatever thread, come here.
  CloudStore::Durable when_durable(std::function<void(const std::string& trouble)> then);

  void rent(const LaunchOrder& order, const MasterForCloud& master);
  void notify_clock(const MasterForCloud& master);
  void note_number(InstanceId id);
  bool is_of_another(const LaunchOrder& order, const RentedRecord& known);
  bool is_forgotten(InstanceId id) const;
  void add(Rented rented);
  Rented remove(InstanceId id);
  void tell(const MasterForCloud& master, CloudReport report);
  void notify_state(const Rented& rented);
  void notify_over(const RentedRecord& record, const MasterForCloud& master);
  void remember(RentedRecord record);

  // What the provider is asked for, and what it answers.
  void order_launch(InstanceId id);
  void on_launched(InstanceId id, const LaunchAnswer& answer);
  void refuse_for(InstanceId id, const LaunchAnswer& answer);
  void on_doubt(InstanceId id, const LaunchAnswer& answer);
  void order_end(InstanceId id, const MasterForCloud& master);
  void terminate(InstanceId id);
  void on_terminated(InstanceId id, EndResult result);
  void look();
  void look_later(Duration wait);
  void on_found(const std::set<InstanceId>& expected, const FoundInstances& found);

  // What it tells.
  void on_news(ProviderNews news);
  void take(InstanceId id, Due due, ProviderNews news);
  void settle(InstanceId id);
  void step(Rented& rented, Due due, const ProviderNews& news);
  void retry_write(InstanceId id);
  void advance(const RentedRecord& record, Due due, const ProviderNews& news,
               std::function<void(Rented&)> then);
  void end(Rented& rented, const ProviderNews& news);
  void come_up(Rented& rented, const ProviderNews& news);
  void give_notice(Rented& rented, const ProviderNews& news);
  void begin_end(Rented& rented, const ProviderNews& news);
  void refuse(Rented& rented, const ProviderNews& news);
  void gone(Rented& rented, const ProviderNews& news);

  // What is offered, and at which price.
  using OfferingKey = std::tuple<std::string, Market, std::string>;
  static OfferingKey key_of(const Offering& offering) {
    return {offering.type, offering.market, offering.zone};
  }
  static OfferingKey key_of(const RentedRecord& record) {
    return {record.type, record.market, record.zone};
  }
  /// What a provider says of an offering.
  struct HeardOffering {
    Offering offering;
    std::optional<Instant> at{};  ///< since when it is so; nothing: since it is written down
  };
  /// All that is known of an offering.
  struct Offered {
    Offering first;                                     ///< before the first of the changes
    std::map<std::uint64_t, OfferingChange> changes{};  ///< those that are kept, by number
    Offering last;                                      ///< as it is now
  };
  void recall_offerings();
  void on_offering(const HeardOffering& heard);
  Instant start_of(const HeardOffering& heard) const;
  void write_changes();
  void on_change_written(const OfferingChange& change, const std::string& trouble);
  std::set<InstanceId> rented_of(const OfferingKey& key) const;
  std::vector<std::uint64_t> droppable();
  bool is_on_record(const OfferingKey& key, std::uint64_t change);
  void drop(const std::vector<std::uint64_t>& numbers);
  void price_from(RentedRecord& record, Instant from) const;
  void catch_up(RentedRecord& record) const;
  void meet(const MasterForCloud& master);

  using InterruptPromise = caf::typed_response_promise<InstanceId>;
  void asked_to_interrupt(InstanceId id, InterruptPromise promise);
  void answer_interruption(InstanceId id, bool written);

  void recall();
  void begin(const std::vector<RentedRecord>& live);
  void go_on_from(Instant newest);

  RentedView show_rented(const RentedQuestion& wanted) const;
  CloudFigures figures() const;

  /// A record on its way into the store, and what has come for its instance since: the next record
  /// of an instance is made from the one before, so all of it waits.
  struct Writing {
    std::function<void(bool written)> then;
    bool ends_bill = false;                       ///< nothing is charged after this record
    std::vector<std::function<void()>> orders{};  ///< in the order in which they came
  };

  ConnectorSetup setup_;
  ActorTimer<CloudActor, CloudConnector> timer_;
  std::shared_ptr<Host> host_;
  std::map<InstanceId, Rented> rented_;
  std::map<InstanceId, Writing> writing_;
  std::map<InstanceId, InterruptPromise> interrupting_;  ///< their notice is being written down
  std::map<OfferingKey, Offered> offered_;
  std::map<OfferingKey, std::set<InstanceId>> rented_of_;
  std::map<std::uint64_t, OfferingKey> changes_;  ///< those that are kept
  std::deque<HeardOffering> to_change_;           ///< told, and not in the store yet
  std::optional<OfferingKey> changing_;           ///< the change of it is being written
  bool change_waits_ = false;                     ///< it is written after a while
  bool writes_changes_ = false;                   ///< write_changes() is under way
  std::size_t look_for_droppable_ = 0;            ///< when so many changes are kept
  std::uint64_t last_change_ = 0;
  Instant last_change_at_;
  std::vector<MasterForCloud> masters_;  ///< who has spoken since the start, the latest last
  /// What is gone or was refused: a late order for it changes nothing.
  std::map<InstanceId, RentedRecord> over_;
  std::deque<InstanceId> over_in_order_;  ///< the oldest first
  /// Of all instances that ever were on record, the highest number of each master.
  std::map<std::uint32_t, InstanceId> newest_;
  std::map<std::uint32_t, InstanceId> recalled_;  ///< the same, as it was at the start
  NumberSet forgotten_;                           ///< instances that left `over_` since then
  std::uint32_t looks_ = 0;                       ///< in vain, one after the other
  bool looks_later_ = false;                      ///< the next look is due already
  std::string trouble_;         ///< why the store took nothing when it was last tried
  std::uint64_t restarts_ = 0;  ///< of workers that ended by themselves
};

}  // namespace muster
