#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "replay/report/summary.hpp"

namespace muster::report {

/// The text as it may stand between tags and in attributes.
std::string escape_html(const std::string& text);

/// JSON that may stand inside a script element: no tag can begin in it.
std::string script_safe(const nlohmann::ordered_json& json);

/// The summary as a table element, its texts escaped.
std::string html_table(const Summary& summary);

/// The page with each {{name}} replaced; inserted texts are not searched again. A name that has no
/// part is a programmer error.
std::string fill_page(std::string_view page, const std::map<std::string_view, std::string>& parts);

}  // namespace muster::report
