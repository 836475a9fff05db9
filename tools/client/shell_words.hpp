#pragma once

#include <string>
#include <vector>

namespace muster::client {

/// The command as one types it into bash, which makes the same words of it again: `printf '%s' 'a
/// b'
/// '' $'c\nd'`. It is one line in which nothing is hidden.
std::string shell_line(const std::vector<std::string>& words);

/// One argument of it.
std::string shell_word(const std::string& word);

}  // namespace muster::client
