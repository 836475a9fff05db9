#pragma once

#include <string>
#include <string_view>

#include "model/ids.hpp"

// Placeholders of a job's work_dir: "/srv/runs/job-%j/%a".

namespace muster {

/// Of which task a folder is.
struct WorkFolderOf {
  JobId job;
  std::uint32_t index = 0;  ///< of the task in its job
  std::string user;
};

/// Whether a '%' stands for something of the task: %j and %A for its job, %a for its index, %u for
/// its user, with a number between ("%4a") for as many digits; "%%" is a '%' and no placeholder.
bool has_placeholder(std::string_view pattern);

/// The fault of a '%' in it; empty: no fault.
std::string placeholder_fault(std::string_view pattern);

/// The folder of a task. Texts that are not placeholders stay as they are.
std::string work_folder(std::string_view pattern, const WorkFolderOf& task);

/// The path up to its last folder that is there for all tasks alike, with "%%" as '%'.
std::string common_work_folder(std::string_view pattern);

/// A path as a pattern that means it, and the other way round for one without placeholders.
std::string pattern_of_path(std::string_view path);
std::string path_of_pattern(std::string_view pattern);

}  // namespace muster
