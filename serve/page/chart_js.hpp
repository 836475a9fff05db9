#pragma once

#include <string_view>

namespace muster::web {

/// The Chart.js library, minified, as Debian's package has it: pages and reports need no network.
extern const std::string_view kChartJs;

}  // namespace muster::web
