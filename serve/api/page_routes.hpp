#pragma once

#include <array>
#include <string_view>

#include "serve/api/routes.hpp"

// The files of the dashboard, as routes. A browser loads them before the user has typed a token.

namespace muster::api {

inline constexpr std::string_view kScript = "text/javascript; charset=utf-8";
inline constexpr std::string_view kStyle = "text/css; charset=utf-8";

/// A file of the dashboard.
constexpr Route page_file(Operation operation, std::string_view pattern, std::string_view summary,
                          std::string_view type) {
  return {operation, "GET", pattern, summary, {}, {}, 200, {}, type, Access::open};
}

inline constexpr std::array kPageRoutes{
    page_file(Operation::page, "/", "The dashboard", "text/html; charset=utf-8"),
    page_file(Operation::script, "/app.js", "The dashboard's script", kScript),
    page_file(Operation::plot, "/plot.js", "The dashboard's script for its plot", kScript),
    page_file(Operation::text, "/text.js", "The dashboard's words and tables", kScript),
    page_file(Operation::asking, "/ask.js", "The dashboard's script that asks the API", kScript),
    page_file(Operation::views, "/views.js", "The dashboard's script for the whole cluster",
              kScript),
    page_file(Operation::job_views, "/jobs.js", "The dashboard's script for jobs", kScript),
    page_file(Operation::task_view, "/task.js", "The dashboard's script for a task", kScript),
    page_file(Operation::pipeline_view, "/pipeline.js", "The dashboard's script for pipelines",
              kScript),
    page_file(Operation::instance_views, "/instances.js",
              "The dashboard's script for instances and decisions", kScript),
    page_file(Operation::style, "/style.css", "The dashboard's style", kStyle),
    page_file(Operation::chart, "/chart.js", "The library that draws the dashboard's plots",
              kScript),
};

}  // namespace muster::api
