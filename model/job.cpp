#include "model/job.hpp"

namespace muster {

const std::vector<FamilyDemand>& Demands::none() {
  static const std::vector<FamilyDemand> kEmpty;
  return kEmpty;
}

const FamilyDemand* Demands::on(std::string_view family) const {
  const FamilyDemand* any = nullptr;
  for (const FamilyDemand& entry : entries()) {
    if (entry.family == family) return &entry;
    if (entry.family.empty()) any = &entry;
  }
  return any;
}

}  // namespace muster
