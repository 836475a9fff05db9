#pragma once

#include <string_view>

/// Parts of the page of an experiment besides those that all reports have, embedded when the
/// program is built.
namespace muster::experiment::page {

extern const std::string_view kPage;    ///< experiment.html with {{name}} where parts go
extern const std::string_view kScript;  ///< experiment.js

}  // namespace muster::experiment::page
