#pragma once

#include <string_view>

/// The text files that the server sends, embedded when the program is built.
namespace muster::api::assets {

extern const std::string_view kPage;       ///< the dashboard's index.html
extern const std::string_view kScript;     ///< its app.js
extern const std::string_view kPlot;       ///< its plot.js
extern const std::string_view kText;       ///< its text.js
extern const std::string_view kViews;      ///< its views.js
extern const std::string_view kAsk;        ///< its ask.js
extern const std::string_view kJobs;       ///< its jobs.js
extern const std::string_view kTask;       ///< its task.js
extern const std::string_view kPipeline;   ///< its pipeline.js
extern const std::string_view kInstances;  ///< its instances.js
extern const std::string_view kStyle;      ///< its style.css
extern const std::string_view kSchemas;    ///< the shapes of the API's documents, as JSON schemas

}  // namespace muster::api::assets
