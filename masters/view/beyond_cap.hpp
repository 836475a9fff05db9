#pragma once

#include <string>

#include "config/master_settings.hpp"
#include "model/job.hpp"
#include "model/refusal.hpp"

// Gangs that the caps hold up for ever, in words.

namespace muster::cell {

/// A gang asks for more than all of a cap, so that nothing that others do gives it room.
bool is_beyond_cap(const Job& job, const Refusal& reason, const MasterCaps& caps);
/// sentence() of the reason, which of a gang beyond a cap says that it is never while the caps are
/// as they are.
std::string sentence_under_caps(const Job& job, const Refusal& reason, const MasterCaps& caps);

}  // namespace muster::cell
