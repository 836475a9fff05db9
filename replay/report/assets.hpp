#pragma once

#include <string_view>

/// The text files that the HTML report is made of, embedded when the program is built.
namespace muster::report::assets {

extern const std::string_view kPage;    ///< report.html with {{name}} where parts go
extern const std::string_view kStyle;   ///< report.css
extern const std::string_view kScript;  ///< report.js

}  // namespace muster::report::assets
