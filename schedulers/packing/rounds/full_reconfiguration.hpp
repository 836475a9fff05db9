#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "schedulers/packing/index/fit_tree.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/tnrp.hpp"

namespace muster {

/// Tasks to pack. Kinds have to differ from each other; a task is a position in `kind_of`.
struct PackingTasks {
  std::span<const TaskKind> kinds;
  std::span<const std::uint32_t> kind_of;  ///< of each task, an index into `kinds`
  /// From which other tasks each is kept apart. Empty: no tasks are.
  std::span<const Apart> apart_of{};
  /// How many instances of each type there may be, where machines are counted beside types that are
  /// not. Empty: any number.
  std::span<const std::uint32_t> most_bins{};

  std::uint32_t most(TypeId type) const {
    return most_bins.empty() ? std::numeric_limits<std::uint32_t>::max() : most_bins[type.value];
  }
  Apart apart(std::uint32_t task) const { return apart_of.empty() ? Apart{} : apart_of[task]; }
};

/// A layout of tasks on instances that need not exist yet.
struct Configuration {
  struct Bin {
    TypeId type;
    std::uint32_t first = 0;  ///< in `tasks`
    std::uint32_t count = 0;
    double worth_usd_h = 0;  ///< TNRP of the bin's tasks
  };
  std::vector<Bin> bins;
  std::vector<std::uint32_t> tasks;     ///< bin after bin
  std::vector<std::uint32_t> unplaced;  ///< tasks that no instance type holds

  std::span<const std::uint32_t> tasks_of(const Bin& bin) const {
    return std::span(tasks).subspan(bin.first, bin.count);
  }
  void clear();
};

/// Cost of the instances of a configuration together, $/h.
double cost_usd_h(const Configuration& configuration, const PricedTypes& types);

/// Algorithm 1 of Eva, task by task: instance types from the dearest to the cheapest; each new
/// instance takes, as long as one fits, the task that makes the set worth most, unless that would
/// lower the set's worth; it is kept when the set is worth its price. Tasks are visited kind by
/// kind in the order of the kinds' first tasks, and the first of equals wins. A task that stays
/// over (only possible when it is not worth the cheapest type that holds it) gets that type alone.
/// An instance takes no more tasks of a job than may be together where they are kept apart; these
/// are a kind of their own. The plain form: quadratic in the number of tasks, for small inputs and
/// as a baseline.
Configuration full_reconfiguration_plain(const PackingTasks& tasks, const WorthModel& model);

/// The same algorithm with the same result, for many tasks: equal tasks are one group, an accepted
/// fill is repeated as often as the groups allow, and candidates and types that cannot win are
/// skipped. Keep the object to reuse its memory.
class FullReconfiguration {
 public:
  void run(const PackingTasks& tasks, const WorthModel& model, Configuration& result);
  /// Looks of the last run at whether something fits, at parts of the tree, too.
  std::uint64_t looks() const { return looks_; }

 private:
  struct Group {
    std::uint32_t kind = 0;
    Apart apart;             ///< of its tasks
    std::uint32_t next = 0;  ///< first task not placed yet, in members_
    std::uint32_t end = 0;
    std::uint32_t used = 0;  ///< by the present fill
    std::uint32_t left() const { return end - next; }
  };
  struct Candidate {
    std::uint32_t group = 0;
    Entrant entrant;
    Resources amount;
  };
  /// Candidates of equal worth to any set, one after the other by rising group: [begin, end).
  struct Run {
    std::size_t begin = 0, end = 0;
    std::size_t at = 0;  ///< candidates before it cannot enter the present fill any more
  };

  void make_groups(const PackingTasks& tasks);
  std::uint32_t& group_of(const PackingTasks& tasks, std::uint32_t task);
  bool is_full_of_peers(const Group& group) const;
  void enter(std::uint32_t position);
  /// Collects the type's candidates by descending worth; the sum of their worth.
  double collect(const PackingTasks& tasks, const WorthModel& model, TypeId type);
  void make_runs();
  const Candidate* first_that_fits(Run& run, const Resources& capacity);
  void begin_fill(const WorthModel& model);
  void take_back_fill();
  void fill(const WorthModel& model, const Resources& capacity);
  const Candidate* best_candidate(const Resources& capacity);
  /// Fills at most that number of instances; returns how many.
  std::uint32_t accept(TypeId type, std::uint32_t most, Configuration& result);
  void place_leftovers(const PackingTasks& tasks, const WorthModel& model, Configuration& result);

  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_kind_;
  std::map<std::pair<Slot, std::uint32_t>, std::uint32_t> group_of_job_;  ///< and kind
  std::vector<std::uint32_t> members_;
  std::vector<Candidate> candidates_;
  std::vector<Run> runs_;            ///< the greatest worth first
  FitTree tree_;                     ///< of the candidates, where there are many
  std::vector<std::uint32_t> live_;  ///< runs of which some task is left
  std::vector<std::uint32_t> open_;  ///< those of which one may still enter the present fill
  std::vector<std::uint32_t> fill_;  ///< candidates of the present fill in the order of entering
  std::vector<Slot> apart_;          ///< jobs of tasks of the fill that are kept apart, once a task
  std::map<Slot, std::vector<std::uint32_t>> of_job_;  ///< candidates in the tree, by such a job
  Resources used_;
  InstanceWorth worth_;
  std::uint64_t looks_ = 0;
};

}  // namespace muster
