#include "serve/node/node_log.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <vector>

namespace muster {

std::shared_ptr<spdlog::logger> make_log(const std::string& name, const std::filesystem::path& file,
                                         bool terminal) {
  constexpr std::size_t kFileBytes = std::size_t{10} << 20;
  constexpr std::size_t kOldFiles = 5;
  std::vector<spdlog::sink_ptr> sinks;
  if (!file.empty()) {
    sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(),
                                                                           kFileBytes, kOldFiles));
  }
  if (terminal) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto log = std::make_shared<spdlog::logger>(name, sinks.begin(), sinks.end());
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %n %v", spdlog::pattern_time_type::utc);
  log->flush_on(spdlog::level::info);
  return log;
}

}  // namespace muster
