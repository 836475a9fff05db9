#pragma once

#include <optional>
#include <set>

#include "masters/instances/cloud_orders.hpp"

namespace muster {

/// Step that the day's cap asks for.
enum class CapStep {
  none,
  save,  ///< take everything off the instances while there is money for checkpoints
  end,   ///< end all instances with whatever is on them
};

/// Reckons with the day's cap. The day is that of the cloud's clock, which bills. The sum that is
/// compared with the cap is never below the cloud's later charge: the money that is spent by now,
/// and the price of all rented instances for the time that ending them may take. In that time are
/// the type's own, and what MasterCaps::end_time is for: the cloud's disk, the order on its way,
/// and the cloud's word about its clock, of which a master knows no more than that it was not ahead
/// of the truth. So the cap holds unless the cloud does not carry out an end in time. Owned
/// instances cost it nothing.
class SpendGuard final : public EventListener {
 public:
  SpendGuard(MasterRecorder& recorder, const CloudOrders& cloud, const MasterCaps& caps);

  /// By how much the cloud's clock, which bills and says which day it is, is ahead of `now`.
  void set_cloud_ahead(Duration ahead) { cloud_ahead_ = ahead; }
  Duration cloud_ahead() const { return cloud_ahead_; }
  /// The time of the cloud's clock is known, or is not.
  void know_cloud_clock(bool known) { knows_cloud_clock_ = known; }
  /// While it is not known which day it is nothing may be rented where a day's money is capped: it
  /// could be one whose money is spent.
  bool knows_day() const { return !has_cap() || knows_cloud_clock_; }

  /// Cost of the cloud's present day so far.
  Money spent_today(Instant now) const;
  /// As much of the day's money as a plan has to take for spent; 0 where it is not capped.
  double spent_today_usd(Instant now) const;
  /// How long an instance has to be affordable to be rented: until it is up, and then for
  /// checkpoints once for having them saved and once more for what there will be to save.
  Duration affordable_time() const;
  /// Likewise, of an instance that is rented beside others.
  Duration affordable_beside_others() const;

  CapStep due(Instant now) const;
  /// When due() may say something new if nothing else is rented till then; nothing when the cap is
  /// out of reach.
  std::optional<Duration> until_due(Instant now) const;
  /// The release of an instance, with the cap that called for it if that is its cause.
  ReleaseDecided release(InstanceId id, const Cause& cause, Instant now) const;
  /// The cap has called for the end of the instance, until it is gone. Not remembered over a crash.
  void end_at_once(InstanceId id) { ended_at_once_.insert(id); }
  /// Orders these ends without waiting for the disk.
  void repeat_ends();

  void before(const Event& event, const MasterFacts& facts) override;

 private:
  bool has_cap() const { return caps_.max_usd_day > 0; }
  const ClusterState& state() const { return recorder_.facts().state; }
  bool is_owned(const InstanceRow& row) const { return recorder_.memory().is_owned(row); }
  Duration end_time() const;
  Money spent_at_most(Instant now) const;
  std::optional<Duration> until_spent(Duration margin, Instant now) const;

  MasterRecorder& recorder_;
  const CloudOrders& cloud_;
  MasterCaps caps_;
  Duration cloud_ahead_{};
  bool knows_cloud_clock_ = true;
  std::set<InstanceId> ended_at_once_;
};

}  // namespace muster
