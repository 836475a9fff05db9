#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "schedulers/baselines/best_pairs.hpp"
#include "schedulers/baselines/pair_profile.hpp"
#include "schedulers/packing/index/empty_rooms.hpp"
#include "schedulers/packing/index/open_rooms.hpp"
#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// One round of Owl.
class OwlRound {
 public:
  /// `input` has been gathered, and the prices of `model` know the state.
  struct Parts {
    const ClusterView& view;
    const RoundInput& input;
    const WorthModel& model;
    const TaskKinds& kinds;
    const PairProfile& profile;
    bool artifact = false;
  };
  OwlRound(const Parts& parts, Budget& budget);

  Plan run();
  /// The budget was spent before everything had been looked at.
  bool cut_off() const { return cut_off_; }

 private:
  /// Tasks of one kind, and of one job where its tasks are kept apart, that may be paired; the
  /// first one next.
  struct Candidates {
    std::uint32_t kind = 0;
    Apart apart;
    std::vector<std::uint32_t> tasks{};
    std::size_t next = 0;
    double most_usd_h = 0;  ///< a task's worth, on whatever type

    std::size_t left() const { return tasks.size() - next; }
  };
  /// Two kinds that are worth more together than the type costs.
  struct Pair {
    TypeId type;
    double worth_usd_h = 0;
    double ratio = 0;  ///< of the worth to the price
  };
  /// An instance that got a task, to be taken back.
  struct Step {
    std::uint32_t task = 0;
    std::uint32_t instance = 0;
    std::optional<std::uint32_t> resident{};  ///< the task that was there
  };
  /// Given instances with one task: a type, and the task's class, worth and loss there. Within one
  /// they differ in their room only.
  using LoneKey = std::tuple<std::uint32_t, std::uint32_t, double, double>;
  struct Lone {
    std::uint32_t kind = 0;  ///< of one of the tasks
    OrderedRooms rooms{1};   ///< in the order of the instances
  };

  void keep_what_stays();
  void use_given();
  void list_given();
  LoneKey lone_key(std::uint32_t instance, std::uint32_t resident) const;
  void add_lone(std::uint32_t instance, std::uint32_t resident);
  void erase_lone(std::uint32_t instance, std::uint32_t resident);
  bool is_full(std::uint32_t instance) const;
  bool place_given(std::uint32_t task);
  bool use_empty(std::uint32_t task);
  bool join_lone(std::uint32_t task);
  void take_back();
  void list_candidates();
  bool may_move(std::uint32_t task) const;
  std::optional<Pair> pair_of(std::uint32_t one, std::uint32_t other) const;
  double worth_together(std::uint32_t one, std::uint32_t other, TypeId type) const;
  void seat_pairs();
  void seat(const BestPairs::Pair& pair);
  std::uint32_t host_for(TypeId type, std::uint32_t one, std::uint32_t other);
  void seat_alone();
  std::uint32_t host_of_instance(std::uint32_t instance);
  void note(Plan& plan) const;
  const TaskKind& kind_of(std::uint32_t task) const {
    return p_.kinds.all()[p_.input.tasks()[task].kind];
  }
  bool waits(std::uint32_t task) const;
  Apart apart(std::uint32_t task) const { return p_.input.tasks()[task].apart; }

  Parts p_;
  Budget& budget_;
  Layout layout_;
  std::vector<std::uint32_t> host_at_;         ///< of each instance of the input
  std::vector<TypeId> by_price_;               ///< types on offer, the cheapest first
  std::vector<Candidates> candidates_;         ///< in the order of their first tasks
  std::map<std::uint32_t, EmptyRooms> empty_;  ///< given instances, by type
  std::map<LoneKey, Lone> lone_;
  OrderedRooms all_lone_;               ///< those of lone_, by type
  std::vector<std::uint32_t> lone_at_;  ///< of each instance of lone_ its task
  PeerRooms peers_;                     ///< of the present; rooms are the input's instances
  std::vector<Step> steps_;             ///< of the gang that is being placed
  std::vector<Refuse> refusals_;        ///< of gangs without room for all
  std::uint32_t seated_ = 0, moved_ = 0;
  double best_ = 0, least_ = 0;
  bool cut_off_ = false;
};

}  // namespace muster
