#pragma once

#include <string_view>

/// Parts of the page of a frontier besides those that all reports have, embedded when the program
/// is built.
namespace muster::pareto::page {

extern const std::string_view kPage;    ///< pareto.html with {{name}} where parts go
extern const std::string_view kScript;  ///< pareto.js

}  // namespace muster::pareto::page
