#include <algorithm>
#include <cmath>

#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_values.hpp"

// Questions for the usage of attempts, and their answers.

namespace muster {
namespace {

using link_values::malformed;

/// Of an attempt in an answer, and of all else in it.
constexpr std::size_t kAttemptBytes = 64;
constexpr std::size_t kAnswerBytes = 256;

}  // namespace

FrameBytes usage_frame(const UsageRequest& request) {
  return make_frame([&](link_wire::Frame::Builder frame) { frame.setUsage(request.number); },
                    // Always shorter.
                    kAnswerBytes);
}

FrameBytes usage_answer_frame(const UsageAnswer& answer, std::size_t max_bytes) {
  const std::size_t room = (max_bytes - std::min(max_bytes, kAnswerBytes)) / kAttemptBytes;
  const std::size_t rows = std::min({answer.attempts.size(), room, kMostUsageRows});
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initUsageAnswer();
        wire.setInstance(answer.instance.value);
        wire.setNumber(answer.number);
        auto list = wire.initAttempts(static_cast<unsigned>(rows));
        for (unsigned i = 0; i < list.size(); ++i) {
          const AttemptUsage& each = answer.attempts[i];
          list[i].setTask(each.task.value);
          list[i].setAttempt(each.attempt);
          list[i].setCpuNs(each.so_far.cpu.count());
          list[i].setPeakBytes(each.so_far.peak_bytes);
          list[i].setMemoryBytes(each.memory_bytes);
          list[i].setCores(each.cores.value_or(0));
          list[i].setCoresSet(each.cores.has_value());
          list[i].setDiskBytes(each.disk_bytes);
        }
      },
      max_bytes);
}

Expected<UsageAnswer, LinkError> read_usage_answer(link_wire::UsageAnswer::Reader frame) {
  const auto list = frame.getAttempts();
  if (list.size() > kMostUsageRows) return malformed("the usage of too many attempts");
  UsageAnswer answer{InstanceId{frame.getInstance()}, frame.getNumber(), {}};
  answer.attempts.reserve(list.size());
  for (const auto wire : list) {
    if (auto problem = link_values::attempt_problem(wire.getTask(), wire.getAttempt());
        !problem.empty()) {
      return malformed("the usage of " + problem);
    }
    AttemptUsage each{TaskId{wire.getTask()}, wire.getAttempt()};
    each.so_far = within_bounds({Duration{wire.getCpuNs()}, wire.getPeakBytes()});
    each.memory_bytes = std::min(wire.getMemoryBytes(), kMostPeakBytes);
    each.disk_bytes = std::min(wire.getDiskBytes(), kMostPeakBytes);
    if (wire.getCoresSet()) {
      const double cores = wire.getCores();
      if (!std::isfinite(cores) || cores < 0) return malformed("an impossible number of cores");
      each.cores = std::min(cores, kMostCores);
    }
    answer.attempts.push_back(each);
  }
  return answer;
}

}  // namespace muster
