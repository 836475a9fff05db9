#pragma once

#include <cstdint>
#include <span>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/expected.hpp"
#include "replay/report/explanation.hpp"

namespace muster::report {

enum class ExplainError : std::uint8_t { unknown_id };

/// The story of a task, as the log tells it: acceptance, refusals with their numbers, placements
/// and moves with cause and gain, starts and stops, who shared its instances, and what those
/// instances cost. The message of an error names the ids that the log knows.
Expected<Explanation, ExplainError> explain_task(std::span<const Event> events,
                                                 const Catalog& catalog, TaskId task);

/// The story of an instance: its launch with price, cause and gain, the tasks that came and went,
/// its release, and what it cost.
Expected<Explanation, ExplainError> explain_instance(std::span<const Event> events,
                                                     const Catalog& catalog, InstanceId instance);

}  // namespace muster::report
