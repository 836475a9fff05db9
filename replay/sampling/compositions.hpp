#pragma once

#include <any>
#include <memory>
#include <string>
#include <vector>

#include "replay/sampling/composition.hpp"

namespace muster::sampling {

/// The names of all compositions.
std::vector<std::string> composition_names();

/// The composition that a module names (PolicyModule::composition), with what the module's read()
/// gave; null when there is none of that name.
std::unique_ptr<Composition> make_composition(const std::string& name, const std::any& params);

}  // namespace muster::sampling
