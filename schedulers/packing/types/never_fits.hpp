#pragma once

#include <optional>
#include <string>

#include "model/catalog.hpp"
#include "model/fleet.hpp"
#include "model/job.hpp"
#include "model/refusal.hpp"

namespace muster {

/// Why nothing that may be rented, or that the fixed fleet has, can ever hold a task of the job on
/// a market that it takes: a sentence with the numbers. Nothing when something can, be it room or
/// not. An empty fleet: instances are rented.
std::optional<std::string> why_never_fits(const Job& job, const Catalog& catalog,
                                          const Fleet& fleet);

/// Likewise, as a refusal with the numbers, of a master that has a fleet. Nothing without a fleet,
/// since policies refuse tasks that no type holds.
std::optional<Refusal> why_task_never_fits(const Job& job, const Catalog& catalog,
                                           const Fleet& fleet);

/// Refusal of a gang that cannot be rented for and asks for more than all of the fleet: for more
/// distinct instances than there are that take one of its tasks, or for more of a resource in all.
/// Never, with the numbers. Nothing for other jobs, and where there is no fleet. Of an elastic job
/// its least width counts.
std::optional<Refusal> why_gang_never_fits(const Job& job, const Catalog& catalog,
                                           const Fleet& fleet);

/// The refusal of a gang in words.
std::string gang_sentence(const Refusal& refusal);

}  // namespace muster
