// Reads the file of the API's first tokens, which are there before anybody can ask the API for
// another one.

#include "serve/api/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "serve/api/private_file.hpp"

namespace muster::api {
namespace {

constexpr std::size_t kMaxTokenFileBytes = 64 * 1024;

bool well_formed(std::string_view token) {
  return token.size() >= kMinTokenBytes && token.size() <= kMaxTokenBytes &&
         std::ranges::all_of(token, [](char letter) { return letter > ' ' && letter < 0x7f; });
}

Expected<std::vector<std::string>, ServerError> tokens_of(const std::filesystem::path& file,
                                                          const std::string& text) {
  std::vector<std::string> tokens;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    // Files from other systems end lines with a carriage return too.
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (!well_formed(line)) {
      return Failure<ServerError>{
          ServerError::bad_token_file,
          fmt::format("{}:{}: a token has {} to {} visible ASCII characters and no spaces",
                      file.string(), number, kMinTokenBytes, kMaxTokenBytes)};
    }
    tokens.push_back(line);
  }
  if (!tokens.empty() && tokens.size() <= kMaxTokens) return tokens;
  return Failure<ServerError>{ServerError::bad_token_file,
                              fmt::format("{}: holds {} tokens; it has to hold 1 to {}, one a line",
                                          file.string(), tokens.size(), kMaxTokens)};
}

}  // namespace

Expected<std::vector<std::string>, ServerError> load_tokens(const std::filesystem::path& file) {
  const auto text = read_private(file, kMaxTokenFileBytes);
  if (!text) return Failure<ServerError>{ServerError::bad_token_file, text.error().message};
  return tokens_of(file, text.value());
}

}  // namespace muster::api
