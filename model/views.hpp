#pragma once

// Views of the cluster. Masters, sites and clouds answer questions (model/questions.hpp) with views
// of what they have; the API puts those of several together and writes them as documents
// (docs/api.md). `fields` below each view is the one description of both.

#include "model/cluster_views.hpp"  // IWYU pragma: export
#include "model/figures.hpp"        // IWYU pragma: export
#include "model/job_views.hpp"      // IWYU pragma: export
#include "model/questions.hpp"      // IWYU pragma: export
#include "model/service_views.hpp"  // IWYU pragma: export
#include "model/usage_views.hpp"    // IWYU pragma: export
