#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/packing/rounds/layout.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster {

/// Goes on filling instances that stay with tasks that wait, as Algorithm 1 of Eva fills a new one:
/// the dearest instance first, always the task that makes its set worth most, as long as one fits
/// and the set's worth does not fall. Room that is paid for already is used before more is rented.
class FillExisting {
 public:
  /// Seats what it can of `waiting` (tasks of the input without a host) on the layout's hosts that
  /// `open` marks; leaves in `waiting` what found no place, in the same order.
  void run(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
           std::span<const char> open, std::vector<std::uint32_t>& waiting, Layout& layout);

  /// Groups of waiting tasks that it looked at for a host so far.
  std::uint64_t looks() const { return looks_; }

 private:
  /// Waiting tasks of one kind, and of one job where its tasks are kept apart; the first one next.
  struct Group {
    std::uint32_t kind = 0;
    Apart apart;
    std::uint32_t next = 0;  ///< in members_
    std::uint32_t end = 0;
    std::uint32_t after = kUnassigned;  ///< the next group of the kind
  };
  /// All groups of one kind, which are worth equally much to every host: the first of them that may
  /// join a host stands for all.
  struct OfKind {
    std::uint32_t kind = 0;
    std::uint32_t first = kUnassigned;  ///< in groups_
  };

  void make_groups(const RoundInput& input, const TaskKinds& kinds,
                   std::span<const std::uint32_t> waiting);
  void link_groups();
  std::uint32_t first_for(std::uint32_t host, OfKind& kind);
  void list_hosts(std::span<const char> open, const Layout& layout);
  void add_up_hosts(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                    const Layout& layout);
  void list_peers(const RoundInput& input, const Layout& layout);
  bool has_room(const WorthModel& model, const Layout& layout, std::uint32_t host,
                ShapeId waiting) const;
  const InstanceWorth::Company& company_of(ClassId cls, const InstanceWorth& worth);
  void fill(const WorthModel& model, const TaskKinds& kinds, std::uint32_t host, Layout& layout);

  std::vector<Group> groups_;
  std::vector<OfKind> kinds_;
  std::vector<std::uint32_t> by_kind_;  ///< the groups, while they are linked
  std::vector<std::uint32_t> members_;
  std::vector<ShapeId> shapes_;       ///< of all groups, each once
  std::vector<std::uint32_t> hosts_;  ///< the open ones, dearest first
  std::vector<char> filled_;          ///< of each host: it is one of them
  /// By class, for the state of the host at hand: each look at the groups has a number of its own.
  struct Known {
    std::uint64_t look = 0;
    InstanceWorth::Company company;
  };
  std::vector<Known> companies_;
  std::uint64_t look_ = 0;
  std::uint64_t looks_ = 0;
  std::vector<InstanceWorth> worth_;  ///< of each host
  std::vector<Resources> used_;       ///< of each host
  PeerRooms peers_;                   ///< rooms are hosts of the layout
};

}  // namespace muster
