#pragma once

#include <cstdint>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/lrasched/service_input.hpp"
#include "schedulers/packing/programs/integer_program.hpp"

namespace muster::lrasched {

/// Where a round puts the replicas that wait, and what it rents for them.
struct ServiceChoice {
  PeriodPlacement placement;
  std::vector<std::uint32_t> rented;    ///< offers; their nodes follow those that are there
  std::vector<ServiceRefusal> refused;  ///< services that are not whole; unordered
};

/// Decides where the services of a round go. All replicas of a service that has no place yet get
/// one, or none does; one that has lost some gets as many as there is room for, before others.
/// Takes the room in `input`.
class ServiceRound {
 public:
  /// No solver: heuristics alone. The parts outlive this.
  ServiceRound(const LraParams& params, ServiceInput& input, const IntegerSolver* solver);

  /// `left`: rent that caps leave. The generator is for moves.
  ServiceChoice run(const RentLeft& left, bool rents, Rng& rng);

 private:
  void replace_lost();
  void place(Rng& rng);
  void move(const std::vector<Spots>& standing, Rng& rng);
  void solve(NodeRooms before, const std::vector<Spots>& standing);
  void rent(const RentLeft& left);
  void use_fewer();
  void drop_rented(const std::vector<Spots>& on_new);
  void tell_why(bool rents);
  ServiceRefusal why_refused(std::uint32_t service) const;

  const LraParams& params_;
  ServiceInput& in_;
  const IntegerSolver* solver_;
  std::vector<Service> services_;  ///< with what is left to place of each
  ServiceChoice choice_;
};

}  // namespace muster::lrasched
