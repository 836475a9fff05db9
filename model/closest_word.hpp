#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The known word that `word` is most likely a misspelling of; empty when no word is close.
std::string closest_word(std::string_view word, const std::vector<std::string>& known);

/// "did you mean 'muster'? ", to go before a list of all words; empty when no word is close.
std::string meant_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace muster
