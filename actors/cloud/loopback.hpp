#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/clock.hpp"
#include "actors/cloud/machine_host.hpp"
#include "actors/cloud/rented.hpp"
#include "actors/messages.hpp"
#include "model/catalog.hpp"
#include "storage/cloud_book.hpp"

namespace muster {

/// What a loopback cloud has charged and done so far. Owned by the composition root, written by the
/// cloud, so that the bill can be compared with the masters' ledgers.
struct CloudBill {
  Money total;                 ///< of instances that are gone
  std::uint64_t launched = 0;  ///< instances that came up
  std::uint64_t refused = 0;
  std::uint64_t rented = 0;  ///< instances ordered and not gone yet
};

/// How many instances a loopback cloud has to rent out at once; it refuses orders beyond.
struct CloudLimits {
  std::uint32_t instances = 0;                   ///< of all types; 0: no limit
  std::map<std::string, std::uint32_t> by_type;  ///< by name; a type that is not named: no limit
  std::map<Market, std::uint32_t> by_market;     ///< a market that is not named: no limit
};

/// How a loopback cloud takes spot instances back.
struct CloudInterruptions {
  Duration notice = std::chrono::minutes{2};  ///< from the notice to the end; >= 0
  double per_h = 0;        ///< expected number in an hour of one spot instance; 0: none by itself
  std::uint64_t seed = 1;  ///< of the times at which they come
};

struct LoopbackSetup {
  const Catalog* catalog = nullptr;
  ClusterEpoch epoch;
  /// What changes a bill or a machine happens at multiples of it, counted from the last multiple
  /// before the order and never before the order itself; zero: at any time.
  Duration quantum{};
  CloudLimits limits;
  CloudInterruptions interruptions;
  Duration halt_grace = std::chrono::seconds{2};   ///< what still runs on a machine gets to end
  Duration write_retry = std::chrono::seconds{1};  ///< between attempts to write or boot; > 0
  std::size_t keep_gone = 100'000;  ///< instances that are remembered after they are gone; >= 1
  CloudBook* book = nullptr;
  MachineHost* machines = nullptr;
  CloudBill* bill = nullptr;
  std::function<void(const std::string&)>
      note;  ///< takes lines for the log of the node; may be empty
};

/// A cloud inside the cluster: its instances come up, get a machine and end after the delays of
/// their types, and are billed from up to gone. Every step is in the book before anything is done
/// or told, without waiting for the disk: the cloud goes on with other instances meanwhile. So a
/// cloud that is started anew on the book goes on where the other one ended, and the instants it
/// reports are those of the book. Its time never goes behind what the book says: when the clock was
/// set back meanwhile, the cloud's goes on from the newest record for as long as it lives. Repeated
/// orders change nothing.
class LoopbackCloud : public CloudActor::base {
 public:
  LoopbackCloud(caf::actor_config& config, LoopbackSetup setup);
  const char* name() const override { return "muster.loopback"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  struct Rented {
    RentedRecord record;         ///< as it is in the book
    std::optional<TypeId> type;  ///< absent: the catalog does not have it any more
    MasterActor master;          ///< who spoke of it last; invalid when nobody has since the start
    bool halting = false;
    std::optional<Instant> ended_at{};  ///< its machine was ended then, while no cloud was there
  };
  /// What is taken again when it could not be written down.
  enum class Step : std::uint8_t { come_up, boot, end, reclaim, halt, interrupt, gone };

  Instant now() const { return floor_to(timer_.now(), setup_.quantum); }
  /// The first time at which the cloud can do what is due at `when`. What it then reports as the
  /// time is the time at which it happens, so that no bill ends or begins in a master's past.
  Instant next(Instant when) const;
  void at(Instant when, Step step, InstanceId id);
  void take(Step step, InstanceId id);
  void retry(Step step, InstanceId id);
  bool is_being_written(InstanceId id) const { return writing_.contains(id); }
  bool defer(InstanceId id, std::function<void()> order);
  void write(const RentedRecord& record, std::function<void(bool written)> then);
  void on_written(InstanceId id, const std::string& trouble);
  void advance(const RentedRecord& record, Step step, std::function<void(Rented&)> then);
  void note(const std::string& text) const;

  void rent(const LaunchOrder& order, const MasterActor& master);
  void tell_clock(const MasterActor& master);
  void note_number(InstanceId id);
  bool is_of_another(const LaunchOrder& order, const RentedRecord& known);
  std::optional<TypeId> type_of(const LaunchOrder& order) const;
  bool full(const RentedRecord& record) const;
  void add(Rented rented);
  Rented remove(InstanceId id);
  void refuse(RentedRecord record, const MasterActor& master);
  void tell(const MasterActor& master, InstanceId id, CloudReportKind kind, Instant when);
  void tell_state(const Rented& rented);
  void tell_over(const RentedRecord& record, const MasterActor& master);

  void come_up(InstanceId id);
  void boot(InstanceId id);
  void order_end(InstanceId id, const MasterActor& master);
  void end(InstanceId id);
  void reclaim(InstanceId id);
  void halt(InstanceId id);
  void gone(InstanceId id);
  void remember(RentedRecord record);

  using InterruptPromise = caf::typed_response_promise<InstanceId>;
  void asked_to_interrupt(InstanceId id, InterruptPromise promise);
  void interrupt(InstanceId id);
  void give_notice(const Rented& rented, std::function<void(bool written)> then);
  void await_interruption(const Rented& rented);

  void recall();
  void go_on_from(Instant newest);
  void resume(Rented& rented);

  RentedView show_rented(const RentedQuestion& wanted) const;
  CloudFigures figures() const;

  /// What threads of the machine host call to have a step run here.
  std::function<void(std::function<void()>)> post();

  /// A record on its way into the book, and what has come for its instance since: the next record
  /// of an instance is made from the one before, so all of it waits.
  struct Writing {
    std::function<void(bool written)> then;
    std::vector<std::function<void()>> orders{};  ///< in the order in which they came
    std::set<Step> steps{};
  };

  LoopbackSetup setup_;
  ActorTimer<CloudActor, LoopbackCloud> timer_;
  std::map<InstanceId, Rented> rented_;
  std::map<std::string, std::uint32_t> rented_by_type_;  ///< what the limits count
  std::map<Market, std::uint32_t> rented_by_market_;
  std::map<InstanceId, Writing> writing_;
  /// What is gone or was refused: a late order for it changes nothing.
  std::map<InstanceId, RentedRecord> over_;
  std::deque<InstanceId> over_in_order_;  ///< the oldest first
  /// Of all instances that ever were on record, the highest number of each master.
  std::map<std::uint32_t, InstanceId> newest_;
  std::set<std::pair<InstanceId, Step>> retried_;  ///< due to be taken again
  std::string trouble_;         ///< why the book took nothing when it was last tried
  std::uint64_t restarts_ = 0;  ///< of workers that ended by themselves
};

}  // namespace muster
