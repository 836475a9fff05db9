#include "replay/replay_parts.hpp"

#include "replay/interference.hpp"
#include "replay/workload/formats.hpp"

namespace muster::replay {
namespace {

ReplayParts list_parts() {
  ReplayParts parts;
  for (const WorkloadFormat& format : workload_formats()) parts.formats.push_back(format.part);
  for (const InterferenceModel& model : interference_models()) {
    parts.interference.push_back(model.part);
  }
  return parts;
}

}  // namespace

const ReplayParts& replay_parts() {
  static const ReplayParts kParts = list_parts();
  return kParts;
}

}  // namespace muster::replay
