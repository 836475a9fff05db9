#pragma once

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <string>

namespace muster {

/// The log of a node or worker: lines with time and level, to a file that is rotated (10 MiB, five
/// old ones are kept) and, when `terminal` is set, to standard error. Null file: only there.
std::shared_ptr<spdlog::logger> make_log(const std::string& name, const std::filesystem::path& file,
                                         bool terminal);

}  // namespace muster
