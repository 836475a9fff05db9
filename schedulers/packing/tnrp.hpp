#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "learning/colocation_table.hpp"
#include "model/ids.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster {

/// Key of tasks that are equal to a packing algorithm.
struct TaskKind {
  ClassId cls;
  ShapeId shape;
  std::uint32_t gang = 1;       ///< tasks of its job that slow each other, itself included
  double gang_worth_usd_h = 0;  ///< sum of their reservation prices; only when `gang` > 1

  friend bool operator==(const TaskKind&, const TaskKind&) = default;
};

/// How a lost share of throughput is counted for a task of a multi-task job.
enum class GangForm : std::uint8_t {
  job_wide,  ///< RP - (1 - rate) x sum of the job's RP (Eva 4.4)
  clipped,   ///< RP x max(0, 1 - tasks x (1 - rate))
  plain      ///< RP x rate, as for a task of its own
};

/// All that decides what a set of tasks on an instance is worth.
struct WorthModel {
  const ReservationPrices& prices;
  const ColocationTable* rates = nullptr;  ///< null: tasks never slow each other
  GangForm form = GangForm::job_wide;
  bool alone_is_learned = false;  ///< a task alone has its recorded rate instead of 1
};

/// Worths and prices that differ by less are taken as equal.
inline constexpr double kWorthEpsilon_usd_h = 1e-9;

/// A task kind as one instance type sees it.
struct Entrant {
  ClassId cls;
  double worth = 0;  ///< $/h at full throughput
  double loss = 0;   ///< factor of (1 - rate): $/h, or tasks in the clipped form
};
Entrant entrant_of(const WorthModel& model, const TaskKind& kind, TypeId type);

/// The throughput-normalised reservation price (TNRP) of a growing set of tasks on one instance.
/// Values depend on the order of adding only in their last bits. Reused, it does not allocate.
class InstanceWorth {
 public:
  /// Starts anew with an empty set.
  void clear(const WorthModel& model) {
    rates_ = model.rates;
    form_ = model.form;
    alone_is_learned_ = model.alone_is_learned;
    key_ = {};
    members_.clear();
    total_ = 0;
    by_pairs_ = 0;
    undisturbed_ = 0;
  }

  /// TNRP of the set, $/h.
  double usd_h() const { return total_; }
  std::size_t size() const { return members_.size(); }

  /// Upper bound of with() when the set already has members.
  double bound_with(const Entrant& entrant) const {
    const bool may_be_recorded =
        rates_ != nullptr && rates_->knows_sets_of(key_.size() + 1) && key_.size() > 1;
    return (may_be_recorded ? undisturbed_ : by_pairs_) + entrant.worth;
  }

  /// Effect of tasks of one class on the set, whatever their worth: equal for all.
  struct Company {
    double members_usd_h = 0;  ///< TNRP of the members beside such a task
    double rate = 1;           ///< of the task beside the members
  };
  Company company_of(ClassId cls) const;

  /// TNRP of the set with one task more, $/h. The same number as usd_h() after adding it.
  double with(const Entrant& entrant) const { return with(entrant, company_of(entrant.cls)); }
  /// Likewise, with the known effect of the entrant's class.
  double with(const Entrant& entrant, const Company& company) const {
    return company.members_usd_h + value(entrant, company.rate);
  }

  void add(const Entrant& entrant);

 private:
  struct Member {
    Entrant task;
    double product = 1;  ///< of its pair rates with all the others
  };
  double value(const Entrant& task, double rate) const {
    switch (form_) {
      case GangForm::job_wide:
        return task.worth - (1 - rate) * task.loss;
      case GangForm::clipped:
        return task.worth * std::max(0.0, 1 - (1 - rate) * task.loss);
      case GangForm::plain:
        break;
    }
    return task.worth * rate;
  }
  double rate_alone(ClassId cls) const;

  const ColocationTable* rates_ = nullptr;
  GangForm form_ = GangForm::job_wide;
  bool alone_is_learned_ = false;
  ColocationKey key_;
  std::vector<Member> members_;
  double total_ = 0;
  double by_pairs_ = 0;     ///< TNRP if nothing but pairs were recorded
  double undisturbed_ = 0;  ///< sum of the members' worth
};

}  // namespace muster
