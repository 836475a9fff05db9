#pragma once

#include "schedulers/policy.hpp"

namespace muster {

/// Where the cloud counts the machines of some types, as those of one's own, and not those of
/// others: machines are used before anything is rented, and no more of them than are left. An order
/// of another type becomes one of a machine that is left, costs less, holds its tasks and runs them
/// no slower; an order beyond the machines that are left becomes one of the other type that costs
/// least for what it does. For policies whose papers know no such types. An order for a task that
/// runs stays as it is: one for a machine is refused where no machine is left, as to leave a rented
/// instance for another one gains nothing. So does one for tasks that no other type holds together.
/// O(launches x types of machines + places + offerings), and O(types x tasks) for an
/// order that may be changed.
void rent_beside(Plan& plan, const ClusterView& view);

}  // namespace muster
