#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/enum_words.hpp"
#include "model/money.hpp"

namespace muster {

/// Kind of use of an instance-second that no task held.
enum class OverheadKind : std::uint8_t {
  boot,          ///< up, not ready yet
  idle,          ///< ready, wanted, without a task
  drain,         ///< no longer wanted, without a task, not gone yet
  fragmentation  ///< the part of an instance with tasks that no task holds
};
constexpr auto words_of(OverheadKind) {
  using E = OverheadKind;
  return std::to_array<EnumWord<E>>({{E::boot, "boot"},
                                     {E::idle, "idle"},
                                     {E::drain, "drain"},
                                     {E::fragmentation, "fragmentation"}});
}
inline constexpr std::size_t kOverheadKinds = kEnumerators<OverheadKind>;

/// How far the bill of an instance that is up is booked.
struct SettledBill {
  Instant until;     ///< by the clock of events
  Duration ahead{};  ///< of the cloud's clock before that one, when the instance was heard to be up

  friend bool operator==(const SettledBill&, const SettledBill&) = default;
};

/// Every instance-second billed, once: to the tasks that held it, in proportion to their dominant
/// share of the instance, or to a kind of idleness. Sums are exact: parts always add up to the
/// total. The bill begins and ends by the cloud's clock; in between what an event ends is booked by
/// the clock of events, so that clocks that differ book nothing to the wrong task.
class Ledger {
 public:
  /// Books what the event ends. `before` is the state just before the event is applied.
  void observe(const Event& event, const ClusterState& before);

  /// Charges of the cloud for all instances that are gone, and for the others until their last
  /// event.
  Money total() const { return total_; }
  Money idleness(OverheadKind kind) const { return idle_[static_cast<std::size_t>(kind)]; }
  Money tasks() const { return closed_tasks_ + open_tasks_; }
  /// Sum booked to one task; nothing for a task that never held an instance.
  Money task(TaskId id) const;
  /// Costs of the task since what it holds was booked last, until `now`: the part of task() that is
  /// still to come. `on`: the instance that it holds.
  Money unsettled(TaskId id, const InstanceRow& on, Instant now) const;
  /// Sum booked to the tasks of an unfinished job, by its place in the state.
  Money job(Slot slot) const { return slot < by_job_.size() ? by_job_[slot].usd : Money{}; }
  /// Sums booked to all unfinished jobs of each user; users without any cost are left out.
  std::map<std::string, Money> by_user() const;
  /// Charges until `now`, the time since the instances' last events included. Looks at the
  /// instances one by one only when the cloud's clock is ahead of `now`.
  Money accrued(const ClusterState& state, Instant now) const;
  /// The task is over and asked for no more: only the sum over all tasks remembers it.
  void close(TaskId id);

 private:
  friend struct StateSnapshotAccess;

  void come_up(const InstanceRow& row, const InstanceUp& up, Instant heard);
  void reprice(const OfferingChange& change, const ClusterState& before);
  void settle(const InstanceRow& row, const ClusterState& state, Instant now);
  void share_out(const InstanceRow& row, const ClusterState& state, Money amount);
  Money accrued_by(const InstanceRow& row, Instant now) const;
  void give_back(const InstanceRow& row, Instant until);
  void split(const InstanceRow& row, const ClusterState& state, Money amount);
  void book_idle(OverheadKind kind, Money amount);
  void book(Slot job, const ClusterState& state, Money amount);
  void seat(const TaskRow& task, const InstanceRow& on, double share);
  void unseat(TaskId id);
  void settle_before(const Event& event, const ClusterState& before);
  void follow_holders(const Event& event, const ClusterState& before);
  Money running(TaskId id) const;
  std::unordered_map<TaskId, Money> all_tasks() const;
  void close_job(Slot slot);
  void begin_bill(const InstanceRow& row, const SettledBill& bill);
  void set_settled(const InstanceRow& row, Instant& settled, Instant until);
  void derive(const ClusterState& state);

  static constexpr std::uint32_t kNoUser = ~std::uint32_t{0};
  /// Tasks of a job that hold equal shares of an instance. They pay equal shares, so that booking
  /// costs O(groups) and not O(tasks).
  struct ShareGroup {
    Slot job = kNoSlot;
    double share = 0;         ///< dominant, of each
    std::uint32_t tasks = 0;  ///< how many they are
    Money each{};             ///< booked to a task that was there all the time
  };
  template <class Groups>
  static auto group_at(Groups& groups, Slot job, double share);
  /// A task that holds an instance.
  struct Seat {
    InstanceId on;
    Slot job = kNoSlot;
    double share = 0;
    Money joined;  ///< of its group's `each`, when it came
  };
  /// Of an unfinished job.
  struct JobSum {
    Money usd;
    std::uint32_t user = kNoUser;  ///< in users_, once something was booked
  };
  /// Of the unfinished jobs of a user to which something was booked.
  struct UserSum {
    std::string name;
    Money usd;
    std::uint32_t jobs = 0;
  };

  Money total_;
  std::array<Money, kOverheadKinds> idle_{};
  Money closed_tasks_;
  std::unordered_map<TaskId, Money> by_task_;  ///< without what its seat knows
  std::unordered_map<TaskId, Seat> seats_;
  std::unordered_map<InstanceId, std::vector<ShareGroup>> groups_;  ///< by job, then by share
  std::unordered_map<InstanceId, SettledBill> settled_until_;
  // Sums over these, so that no question walks them.
  Money open_tasks_;
  std::vector<JobSum> by_job_;  ///< by slot
  std::vector<UserSum> users_;
  std::unordered_map<std::string, std::uint32_t> user_numbers_;
  std::vector<std::uint32_t> free_users_;
  Money::Units up_rate_ = 0;           ///< nano-dollars an hour of all that are billed
  Money::Units settled_at_rates_ = 0;  ///< sum of each one's price times the time it is settled to
  Instant newest_settled_{Duration::min()};  ///< no instance is settled to later
};

}  // namespace muster
