#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedulers/packing/index/open_rooms.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/tnrp.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// The instances of a round as whoever wants to join one sees them. Where a task goes depends on
/// what the tasks of an instance are worth with it for a dollar, and on how well it fills the room.
/// The first is alike for all instances of a type and price whose tasks are of the same classes and
/// worth: it is computed once for all of them, and only among those of the best worth is room
/// looked for. A task never looks at those whose greatest room is too small for it.
class JoinIndex {
 public:
  /// Which instances may be joined.
  struct Rules {
    /// The least worth of all tasks, the new one included, for a dollar of the instance's price.
    double least_ratio = -std::numeric_limits<double>::infinity();
    bool may_fall = true;  ///< also where the tasks are worth less with the new one than without
  };
  /// Where a task would go.
  struct Found {
    std::uint32_t host = 0;
    double ratio = 0;      ///< worth of all tasks over the price
    double alignment = 0;  ///< of what it asks for and what is free, as shares of the capacity
  };
  /// A host's state before something joined it.
  struct Before {
    std::uint32_t group = 0;
    Resources free;
  };

  /// The arguments have to outlive it; rates and prices stay as they are meanwhile.
  JoinIndex(const WorthModel& model, std::span<const TaskKind> kinds, const Rules& rules)
      : model_(model), kinds_(kinds), rules_(rules) {}

  /// Tasks of these kinds will ask, and of no others; a kind stands here once for each of its
  /// tasks. Instances without room for any of them are not listed. To be called once, before the
  /// first host.
  void expect(std::span<const std::uint32_t> kinds);
  /// Hosts are numbered from 0 on; `tasks` are the kinds of those that are there.
  std::uint32_t add(TypeId type, double price_usd_h, const Resources& free,
                    std::span<const std::uint32_t> tasks);
  /// The host with the best ratio; of these the one with the best alignment. Nothing: all of those
  /// that may be joined are full. Each look at a group of hosts is a step of the budget; when that
  /// is spent the best host seen so far is good enough, and any host with room where the rules set
  /// no least ratio. Only hosts that the task may join, by their numbers.
  std::optional<Found> best(std::uint32_t kind, Budget& budget, const RoomRule& may_join = {});
  /// The budget was spent before everything had been looked at.
  bool cut_off() const { return cut_off_; }
  /// Ratios that are remembered: a bounded number, whatever comes.
  std::size_t kept() const { return kept_; }
  /// A task of the kind comes to the host.
  Before join(std::uint32_t host, std::uint32_t kind);
  void take_back(std::uint32_t host, const Before& before);
  double worth_usd_h(std::uint32_t host) const { return groups_[hosts_[host].group].worth.usd_h(); }

 private:
  /// Which type, at which price, and the multiset of what its tasks are worth to a packer.
  struct Key {
    std::uint32_t type = 0;
    std::uint64_t price = 0;
    std::uint64_t low = 0, high = 0;  ///< of the multiset
    friend bool operator==(const Key&, const Key&) = default;

    void add(const Entrant& entrant);
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  /// Hosts that are alike to whoever joins, but for their room.
  struct Group {
    Key key;
    TypeId type;
    double price_usd_h = 0;
    InstanceWorth worth;
    double order = 0;       ///< in open_; 0: it is not there
    Resources greatest;     ///< as open_ knows it
    OrderedRooms rooms{1};  ///< the freest first
  };
  struct Host {
    std::uint32_t group = 0;
    Resources free;
    bool listed = false;
  };
  /// Kinds of tasks of equal worth to any host: they differ in their demands only.
  struct Asker {
    std::uint32_t kind = 0;                                 ///< one of them
    std::uint32_t asks = 0;                                 ///< that are expected still
    std::vector<ShapeId> shapes{};                          ///< theirs
    double seen = 0;                                        ///< up to this order of open_
    GroupNeeds least{};                                     ///< of each type, for any of them
    std::set<std::pair<double, std::uint32_t>> by_ratio{};  ///< minus the ratio, and the group
  };

  Asker& asker_of(std::uint32_t kind);
  void list_least(Asker& asker) const;
  void look_at_new_groups(Asker& asker, Budget& budget);
  std::optional<Found> best_seen(Asker& asker, std::uint32_t kind, Budget& budget,
                                 const RoomRule& may_join);
  std::optional<Found> any_room(std::uint32_t kind, const RoomRule& may_join) const;
  void forget(Asker& asker);
  void refresh(std::uint32_t group);
  std::uint32_t group_after(std::uint32_t group, const Entrant& entrant);
  OrderedRooms::Key room_key(std::uint32_t host) const;
  const Resources& per_unit(TypeId type);
  void list(std::uint32_t host);
  void unlist(std::uint32_t host);
  double ratio(double worth_usd_h, const Group& group) const;

  WorthModel model_;
  std::span<const TaskKind> kinds_;
  Rules rules_;
  std::vector<std::optional<Resources>> least_;     ///< of each type, what a task takes at least
  std::vector<std::optional<Resources>> per_unit_;  ///< of each type, one over its capacity
  std::vector<Group> groups_;
  std::unordered_map<Key, std::uint32_t, Hash> group_of_;  ///< looked up only
  std::vector<Host> hosts_;
  /// Groups with their greatest room, by type; one that gets more room moves behind all others.
  OrderedRooms open_{0};
  double last_order_ = 0;
  std::vector<Asker> askers_;
  std::map<std::vector<double>, std::uint32_t> asker_ids_;
  std::vector<std::uint32_t> asker_of_kind_;
  std::size_t kept_ = 0;  ///< in all by_ratio
  bool cut_off_ = false;
  GroupNeeds needs_{1};
};

}  // namespace muster
