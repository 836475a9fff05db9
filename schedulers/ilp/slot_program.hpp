#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/packing/programs/hosting_problem.hpp"
#include "schedulers/packing/programs/integer_program.hpp"

namespace muster::ilp {

/// The program of Eva 4.1: each slot is of one type or of none (the ghost type), each task is in
/// one slot, and what is in a slot fits its type. There are as many slots as tasks. Of equal tasks
/// that are kept apart a slot has one at most. Where a kind takes other amounts on another family
/// the third constraint is linear only for slots that belong to a family: then each family has as
/// many slots as tasks that fit it.
class SlotProgram {
 public:
  /// A program of more entries is not built: it would take gigabytes, and no solver ends it.
  static constexpr std::uint64_t kMostEntries = 5'000'000;

  /// `start`: instances that host every task, or none.
  SlotProgram(const HostingProblem& hosting, const ReservationPrices& prices,
              std::span<const bound::Pattern> start);

  /// There is no program: it would have more than kMostEntries.
  bool is_too_large() const { return is_too_large_; }
  const IntegerProgram& program() const { return program_; }
  /// The instances of a solution.
  std::vector<bound::Pattern> instances(const std::vector<std::uint32_t>& values) const;

 private:
  /// Types for which each kind takes the same amounts, and the slots that are for them.
  struct Group {
    std::vector<std::uint32_t> types;  ///< of the problem
    std::vector<std::uint32_t> tasks;  ///< that fit one of them
  };
  struct Slot {
    std::size_t group = 0;
    std::size_t first_type = 0;  ///< its columns: the group's types, the ghost type, then its tasks
    std::size_t first_task = 0;
  };

  bool same_everywhere() const;
  std::uint64_t most_entries() const;
  const bound::OnType& on(const Group& group, std::uint32_t task) const;
  bool fits(const Group& group, std::uint32_t task) const;
  bool is_kept_apart(std::uint32_t kind) const;
  void add_slot(std::size_t group);
  void start_with(std::span<const bound::Pattern> start);
  bool seat(const bound::Pattern& instance, const Slot& slot, std::vector<char>& seated);

  const bound::FluidProblem& problem_;
  std::vector<std::uint32_t> kind_of_;  ///< of each task of the program
  std::vector<Group> groups_;
  std::vector<Slot> slots_;
  IntegerProgram program_;
  bool is_too_large_ = false;
};

}  // namespace muster::ilp
