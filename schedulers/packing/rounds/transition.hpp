#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/packing/rounds/assignment.hpp"
#include "schedulers/packing/rounds/full_reconfiguration.hpp"

namespace muster {

/// An instance that a configuration may use: all that the tasks to lay out leave behind, and
/// empty ones.
struct FreeInstance {
  TypeId type;
  bool ready = true;
};

/// Start of a transition.
struct PresentPlaces {
  std::span<const FreeInstance> instances;
  std::span<const std::uint32_t> kind_of;  ///< of each task; equal kinds are interchangeable
  std::span<const std::uint32_t> home_of;  ///< of each task: an instance, or kUnassigned
};

/// Turns a configuration of nameless instances into one of present and new ones so that as many
/// tasks as possible stay where they are: finds an instance of its type for each bin, and lets
/// equal tasks change places between bins. Exact unless more than 64 bins or instances of one type
/// remain after those that match completely; those are matched greedily.
/// Keep the object to reuse its memory.
class Transition {
 public:
  /// Reorders `configuration.tasks`; gives each bin its instance, or kUnassigned for a new one.
  void run(const PresentPlaces& places, Configuration& configuration,
           std::vector<std::uint32_t>& instance_of_bin);

 private:
  void list_residents(const PresentPlaces& places);
  void match_equal(const PresentPlaces& places, const Configuration& configuration,
                   std::vector<std::uint32_t>& instance_of_bin);
  void match_rest(const PresentPlaces& places, const Configuration& configuration,
                  std::vector<std::uint32_t>& instance_of_bin);
  void match_type(const PresentPlaces& places, const Configuration& configuration,
                  std::vector<std::uint32_t>& instance_of_bin);
  /// How many of the bin's tasks could come from the instance.
  std::uint32_t overlap(const PresentPlaces& places, std::span<const std::uint32_t> bin,
                        std::uint32_t instance);
  void match_greedily(const PresentPlaces& places, const Configuration& configuration,
                      std::vector<std::uint32_t>& instance_of_bin);
  std::uint32_t best_home(const PresentPlaces& places, const Configuration& configuration,
                          const Configuration::Bin& bin);
  bool seat_at_home(const PresentPlaces& places, const Configuration& configuration,
                    std::uint32_t task);
  void seat_tasks(const PresentPlaces& places, Configuration& configuration,
                  const std::vector<std::uint32_t>& instance_of_bin);

  std::vector<std::uint32_t> first_resident_;  ///< of each instance, in residents_; one more
  std::vector<std::uint32_t> residents_;
  std::vector<char> taken_;                ///< of each instance: a bin has it
  std::vector<std::uint32_t> open_bins_;   ///< of the type being matched
  std::vector<std::uint32_t> open_insts_;  ///< of the type being matched
  std::vector<std::uint32_t> tally_;       ///< by kind; zero between uses
  std::vector<std::uint32_t> bin_of_;      ///< of each instance
  std::vector<std::uint32_t> seats_;       ///< the new configuration.tasks
  std::vector<std::uint32_t> order_;       ///< tasks not seated yet
};

}  // namespace muster
