#pragma once

#include <cstdint>
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

/// Bounds on what a master may rent, whatever it is for; 0: there is no bound.
struct RentCaps {
  std::uint32_t instances = 0;
  double usd_h = 0;
};

/// Why the job cannot run while the caps are as they are, though nothing else ran: a sentence with
/// the cap and the least that the job asks for at the catalog's prices. Nothing when it may be able
/// to. Of an elastic job its least width counts. O(tasks + types).
std::optional<std::string> why_beyond_caps(const Job& job, const Catalog& catalog,
                                           const RentCaps& caps);

/// Least price of an hour, in the catalog, of an instance that may hold the task of the job on a
/// market that it takes; infinity: no type can. O(types).
double least_usd_h(const Job& job, const TaskSpec& task, const Catalog& catalog);

/// The refusal of a gang in words.
std::string gang_sentence(const Refusal& refusal);

}  // namespace muster
