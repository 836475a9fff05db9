#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "learning/services/learner_params.hpp"
#include "learning/services/service_book.hpp"

// Parts of the learners of sizes and of degrees.

namespace muster {

/// Rows of the kind that the params say.
ServiceRows rows_of(std::uint32_t points, const LearnerParams& params);

/// Whether a sample has a value at all.
bool is_measurable(const PerformanceSample& sample);

/// One of the points that are not measured, drawn anew for each service and measurement.
std::optional<std::uint32_t> drawn_probe(std::uint64_t service,
                                         std::span<const MeasuredPoint> measured,
                                         std::uint32_t points);

/// Whether each service of the book has a row at its size, and no other service has one.
bool rows_fit(std::span<const ServiceRows* const> by_size, const ServiceBook& book);

/// Those that the kind of the learner goes by stand in its model's own lines.
void write_learner_params(ModelWriter& out, const LearnerParams& params);
LearnerParams read_learner_params(ModelReader& in);

}  // namespace muster
