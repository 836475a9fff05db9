#pragma once

#include <optional>
#include <string>

#include "model/catalog.hpp"
#include "model/fleet.hpp"
#include "model/job.hpp"

namespace muster {

/// Why nothing that may be rented, or that the fixed fleet has, can ever hold a task of the job on
/// a market that it takes: a sentence with the numbers. Nothing when something can, be it room or
/// not. An empty fleet: instances are rented.
std::optional<std::string> why_never_fits(const Job& job, const Catalog& catalog,
                                          const Fleet& fleet);

}  // namespace muster
