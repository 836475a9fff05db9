#pragma once

#include <string>

#include "config/master_settings.hpp"
#include "model/catalog.hpp"
#include "model/job.hpp"
#include "model/refusal.hpp"

// Jobs that the caps hold up for ever, in words.

namespace muster::cell {

/// Caps, and what may be rented under them.
struct RentLimits {
  const MasterCaps& caps;
  const Catalog& catalog;
};

/// The job asks for more than all of a cap, so that nothing that others do gives it room: a gang,
/// or a job of which no type holds a task for so little.
bool is_beyond_cap(const Job& job, const Refusal& reason, const RentLimits& under);
/// sentence() of the reason, which of a job beyond a cap says that it is never while the caps are
/// as they are.
std::string sentence_under_caps(const Job& job, const Refusal& reason, const RentLimits& under);

}  // namespace muster::cell
