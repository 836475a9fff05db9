#include "replay/sampling/compositions.hpp"

#include <functional>
#include <utility>

#include "replay/sampling/eagle_composition.hpp"
#include "replay/sampling/pigeon_composition.hpp"
#include "replay/sampling/sparrow_composition.hpp"

namespace muster::sampling {
namespace {

using Make = std::function<std::unique_ptr<Composition>(const std::any&)>;

template <class Composed>
Make make() {
  return [](const std::any& params) {
    return std::make_unique<Composed>(std::any_cast<const typename Composed::Params&>(params));
  };
}

const std::vector<std::pair<std::string, Make>>& table() {
  static const std::vector<std::pair<std::string, Make>> kTable = {
      {"sparrow", make<SparrowComposition>()},
      {"eagle", make<EagleComposition>()},
      {"pigeon", make<PigeonComposition>()},
  };
  return kTable;
}

}  // namespace

std::vector<std::string> composition_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : table()) names.push_back(name);
  return names;
}

std::unique_ptr<Composition> make_composition(const std::string& name, const std::any& params) {
  for (const auto& [known, make] : table()) {
    if (known == name) return make(params);
  }
  return nullptr;
}

}  // namespace muster::sampling
