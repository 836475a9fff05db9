#include "tools/client/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace muster::client {
namespace {

using nlohmann::json;

/// The place of the next page, as a query takes it; empty: there is no next page.
std::string next_of(const json& page) {
  const auto next = page.find("next");
  if (next == page.end()) return "";
  if (next->is_string()) return url_escaped(next->get<std::string>());
  return next->is_number_unsigned() ? std::to_string(next->get<std::uint64_t>()) : "";
}

std::uint64_t size_of(const json& page, const std::string& list) {
  const auto entries = page.find(list);
  return entries != page.end() && entries->is_array() ? entries->size() : 0;
}

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Leaves out what has another name, and what is more than `most`.
void keep_named(const Pages& pages, std::uint64_t most, Answer& page) {
  json kept = json::array();
  for (const json& entry : page.document.value(pages.list, json::array())) {
    if (kept.size() < most && entry.is_object() && entry.value("name", json()) == pages.name) {
      kept.push_back(entry);
    }
  }
  page.document[pages.list] = std::move(kept);
  page.text = text_of(page.document);
}

}  // namespace

std::optional<Failure<ClientError>> each_page(ApiClient& api, Pages& pages, const UsePage& use) {
  std::uint64_t left = pages.most;
  while (true) {
    std::string path = pages.path;
    if (path.back() != '?') path += '&';
    // Of those that come some are left out.
    path +=
        fmt::format("limit={}", pages.name.empty() ? std::min(left, pages.at_once) : pages.at_once);
    if (!pages.after.empty()) path += "&after=" + pages.after;
    auto page = api.get(path);
    if (!page) return page.error();
    if (!pages.name.empty()) keep_named(pages, left, page.value());
    std::string next = next_of(page->document);
    if (!next.empty() && next == pages.after) {
      return Failure<ClientError>{ClientError::malformed,
                                  "the answer's next page is the one that was asked for: " + path};
    }
    left -= std::min(left, size_of(page->document, pages.list));
    pages.after = std::move(next);
    const bool last = left == 0 || pages.after.empty();
    if (auto failure = use(page.value(), last)) return failure;
    if (last) return std::nullopt;
  }
}

void JsonOfPages::add(const Answer& page, bool last) {
  if (last && !begun_) return print_(page.text);
  complete_ &= page.document.value("complete", json(true)) == true;
  const json silent = page.document.value("silent", json::array());
  if (!silent.empty()) silent_ = silent;
  std::string text;
  if (!std::exchange(begun_, true)) text = fmt::format("{{\"{}\":[", list_);
  for (const json& entry : page.document.value(list_, json::array())) {
    if (std::exchange(listed_, true)) text += ',';
    text += text_of(entry);
  }
  if (last) {
    text += ']';
    json rest = page.document;
    rest["complete"] = complete_;
    rest["silent"] = silent_;
    for (const auto& [name, value] : rest.items()) {
      if (name != list_) text += fmt::format(",{}:{}", text_of(name), text_of(value));
    }
    text += '}';
  }
  print_(text);
}

}  // namespace muster::client
