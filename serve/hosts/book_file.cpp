#include "serve/hosts/book_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "serve/api/private_file.hpp"
#include "serve/hosts/host_refusal.hpp"
#include "serve/hosts/row_value.hpp"

// The file is one JSON document: a machine is a line of some 300 bytes, and few things change it.

namespace muster::hosts {
namespace {

using BookJson = nlohmann::ordered_json;
using BookFault = Failure<int>;
using std::chrono::milliseconds;

/// No lease is longer, and no number from a file may overflow a time.
constexpr milliseconds kLongestLease = std::chrono::hours{24 * 365};

}  // namespace

Expected<std::optional<BookContent>, int> read_book(const std::filesystem::path& file) {
  const auto text = api::read_private(file, kMaxBookFile);
  if (!text) {
    if (text.error().code == api::FileError::missing) return std::optional<BookContent>();
    return BookFault{kHostStorage, text.error().message};
  }
  const BookJson document = BookJson::parse(text.value(), nullptr, /*allow_exceptions=*/false);
  const auto is_list = [&](const char* name) {
    return document.contains(name) && document[name].is_array();
  };
  if (!document.is_object() || !is_list("tokens") || !is_list("hosts")) {
    return BookFault{
        kHostStorage,
        fmt::format("{}: is not the list of machines that this release writes", file.string())};
  }
  BookContent content;
  content.tokens.load(document["tokens"]);
  content.hosts.load(document["hosts"], row_value<std::uint32_t>(document, "next", 1));
  if (document.contains("lease_ms")) {
    const auto lease = row_value<std::int64_t>(document, "lease_ms", 0);
    content.lease =
        milliseconds{std::clamp<std::int64_t>(lease, 0, milliseconds{kLongestLease}.count())};
  }
  return std::optional(std::move(content));
}

std::string book_text(const JoinTokens& tokens, const HostTable& hosts, Duration lease) {
  const BookJson document{{"version", 1},
                          {"next", hosts.next()},
                          {"lease_ms", std::chrono::ceil<milliseconds>(lease).count()},
                          {"tokens", tokens.to_rows()},
                          {"hosts", hosts.to_rows()}};
  return document.dump(1, ' ', false, BookJson::error_handler_t::replace) + "\n";
}

}  // namespace muster::hosts
