#pragma once

#include <any>
#include <memory>
#include <string>
#include <vector>

#include "replay/sampling/composition.hpp"

namespace muster::sampling {

/// The names of all compositions.
std::vector<std::string> composition_names();

/// The composition that a module names (PolicyModule::composition), with the result of the module's
/// read(); null for an unknown name.
std::unique_ptr<Composition> make_composition(const std::string& name, const std::any& params);

}  // namespace muster::sampling
