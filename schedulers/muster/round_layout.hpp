#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/muster/free_machines.hpp"
#include "schedulers/muster/gather_pieces.hpp"
#include "schedulers/muster/patience.hpp"
#include "schedulers/muster/repartition.hpp"
#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::own {

/// Where a round would have every task, and what each instance and gang is worth there. Begins as
/// things are; tasks and hosts go by number.
class RoundLayout {
 public:
  /// An instance of the layout, there or to be rented.
  struct Working {
    Host host;
    std::uint32_t present = kUnassigned;  ///< in the round's instances; of a machine beyond these
    bool machine = false;                 ///< it is free, of a counted type (FreeMachines)
    bool newest = false;                  ///< of the machines of its type
    std::vector<std::uint32_t> tasks{};   ///< those that may be moved
    std::vector<std::uint32_t> fixed_tasks{};
    double own_usd_h = 0;    ///< worth of its tasks that are of no gang, less its price
    double value_usd_h = 0;  ///< likewise, with those of gangs at their pace here
    Resources used{};
    bool pinned = false;  ///< something is on its way to it: nothing of it is moved
    bool closed = false;  ///< it empties for a job that goes before others: nothing is added to it
    bool dirty = false;
    bool gone = false;          ///< not part of the layout any more
    std::uint32_t version = 0;  ///< rises with every change of its tasks
    double counted_usd_h = 0;   ///< its part in the running value
  };
  /// Tasks that are placed together.
  struct Team {
    std::vector<std::uint32_t> tasks;
    double usd_h = 0;  ///< worth of an hour of all
    bool movable = false;
    double counted_usd_h = 0;  ///< its part in the running value
    bool stale = false;        ///< that is not what it is worth now
  };

  explicit RoundLayout(const RoundParts& parts);
  RoundLayout(const RoundLayout&) = delete;
  RoundLayout& operator=(const RoundLayout&) = delete;

  const ValueModel& model() const { return model_; }
  /// How gains are reckoned from now on where a gang is not looked at as a whole.
  void reckon(GangLoss loss) { model_.gang_loss = loss; }
  std::span<const Working> hosts() const { return hosts_; }
  const Working& host(std::uint32_t host) const { return hosts_[host]; }
  /// Without whether it may wait.
  const Piece& piece(std::uint32_t task) const { return pieces_[task]; }
  int priority(std::uint32_t task) const {
    return p_.input.jobs()[p_.input.tasks()[task].job].priority;
  }
  /// The task is not where it was, or was nowhere.
  bool is_displaced(std::uint32_t task) const;
  /// It, and all of its gang, may be left without a place for now.
  bool may_wait(std::uint32_t task) const { return left_to_wait(task) > Duration{}; }
  /// Time for which it may be; 0: not at all. A task that has run and saves nothing would lose all
  /// of that by a pause: it never ends when it is stopped and started time and again.
  Duration left_to_wait(std::uint32_t task) const {
    return loses_by_stop(task) ? Duration{} : own::left_to_wait(p_, task, together(task));
  }
  /// It, or one of its gang, has run what a stop would lose.
  bool loses_by_stop(std::uint32_t task) const {
    const std::span<const std::uint32_t> all = together(task);
    return std::any_of(all.begin(), all.end(),
                       [&](std::uint32_t one) { return p_.input.tasks()[one].unsaved_usd > 0; });
  }
  std::span<const Team> gangs() const { return teams_; }
  /// kUnassigned: it waits.
  std::uint32_t host_of(std::uint32_t task) const { return host_of_[task]; }
  /// The task and all that are placed with it.
  std::span<const std::uint32_t> together(const std::uint32_t& task) const;
  /// Its tasks may be repartitioned.
  bool is_open(std::uint32_t host) const {
    return !hosts_[host].gone && !hosts_[host].pinned && !hosts_[host].closed;
  }
  /// Tasks of the gang may be moved, and all hosts that it is on repartitioned.
  std::vector<std::uint32_t> hosts_of_gang(std::uint32_t gang) const;

  /// Value of a host as a share of its price: the less, the more there is to gain.
  double value_for_price(std::uint32_t host) const;
  double gang_usd_h(std::uint32_t gang) const;
  /// Value of the whole, $/h. O(hosts and tasks of gangs).
  double value_usd_h() const;
  /// Equal to it but for rounding, at the cost of the changes since it was asked for last.
  double running_value_usd_h();
  /// Hosts whose tasks have changed, as often and in the order in which they did.
  std::span<const std::uint32_t> changes() const { return changes_; }
  /// There is room for the task on the host, or may be: one to be rented may become a larger one.
  /// `taken` is to come there, too.
  bool has_room(std::uint32_t task, std::uint32_t host, const Resources& taken = {}) const;
  /// Resources that the task takes of the host; it runs on its type.
  const Resources& amount_on(std::uint32_t task, std::uint32_t host) const;
  /// How many more tasks of the job may come to the host, whatever room there is, where those that
  /// are moved are elsewhere.
  std::uint32_t newcomers(const Apart& apart, std::uint32_t host,
                          std::span<const std::uint32_t> moved = {}) const;
  /// The host's gain by the task, of gangs by the present reckoning; nothing when there is no room,
  /// or it may not join. O(tasks of the host).
  std::optional<double> gain_by(std::uint32_t task, std::uint32_t host) const;

  /// A host to be rented, of one of the model's offers.
  std::uint32_t add_new(std::uint32_t offer);
  void add(std::uint32_t task, std::uint32_t host);
  void take_off(std::uint32_t task);
  void set_dirty(std::uint32_t host, bool dirty) { hosts_[host].dirty = dirty; }

  /// Some hosts and waiting tasks, as a repartition takes them.
  struct Excerpt {
    std::vector<std::uint32_t> hosts;  ///< those that are there
    std::vector<Host> given;           ///< likewise
    std::vector<std::uint32_t> fresh;  ///< those to be rented
    std::vector<std::uint32_t> tasks;
    std::vector<Piece> pieces;
    std::vector<Gang> gangs;
    double before_usd_h = 0;  ///< their present worth, with all of the gangs that they touch
    double weight_usd_h = 0;  ///< sum of the pieces' values
  };
  /// `moved` are tasks of the hosts and waiting ones; those of the hosts that are not among them
  /// stay where they are. Of hosts to be rented there have to be all.
  Excerpt excerpt(std::span<const std::uint32_t> hosts, std::span<const std::uint32_t> moved) const;
  /// Carries a partition of the excerpt out.
  void adopt(const Excerpt& excerpt, const Partition& partition);

  /// The layout for a plan. A task that is to wait has no host.
  Layout layout() const;

 private:
  std::vector<std::uint32_t> plan_order() const;
  void gather_gangs();
  void gather_hosts();
  void show_machine(TypeId type);
  void revalue(std::uint32_t host);
  void settle_type(std::uint32_t host);
  void count(Working& working);
  void recount_team_of(std::uint32_t task);
  std::uint32_t team_of(std::uint32_t task) const { return pieces_[task].gang; }
  const std::vector<const Piece*>& pieces_of(std::span<const std::uint32_t> tasks) const;
  void number_gangs(Excerpt& excerpt) const;
  Gang gang_of(std::uint32_t team, const Excerpt& excerpt) const;

  const RoundParts p_;
  const std::vector<Host> offers_;
  ValueModel model_;
  FreeMachines machines_;      ///< those that are no hosts yet
  PeerRooms peers_;            ///< of the present; rooms are the round's instances
  std::vector<Piece> pieces_;  ///< `home` in the round's instances, `gang` in teams_
  std::vector<Team> teams_;
  std::vector<Working> hosts_;
  std::vector<std::uint32_t> host_of_;  ///< of each task
  std::vector<std::uint32_t> changes_;
  double running_usd_h_ = 0;
  std::vector<std::uint32_t> stale_teams_;
  std::vector<double> pace_;   ///< of each task that has a host
  std::vector<double> works_;  ///< the same times the share of the horizon that it works
  mutable Paces paces_;        ///< memory that is used again
  mutable std::vector<const Piece*> some_;  ///< likewise
};

/// The offer is the host's own, which is there already and costs no more.
bool renews(const RoundLayout& layout, std::uint32_t host, std::uint32_t offer);

}  // namespace muster::own
