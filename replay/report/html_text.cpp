#include "replay/report/html_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/check.hpp"

// Helpers that make reports of all kinds pages that stand by themselves: texts from outside are
// escaped wherever they go.

namespace muster::report {

std::string escape_html(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string script_safe(const nlohmann::ordered_json& json) {
  // ASCII only, so that the page's encoding does not matter.
  const std::string text =
      json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      safe += fmt::format("\\u{:04x}", c);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_table(const Summary& summary) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    if (i == 0 || says_something(summary, i)) shown.push_back(i);
  }
  std::string html = "<table><thead><tr>";
  for (const std::size_t i : shown) {
    html += fmt::format("<th>{}<small>{}</small></th>", escape_html(summary.columns[i].name),
                        escape_html(summary.columns[i].unit));
  }
  html += "</tr></thead><tbody>\n";
  for (const auto& row : summary.rows) {
    html += "<tr>";
    for (const std::size_t i : shown) html += "<td>" + escape_html(row[i]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table>";
}

std::string fill_page(std::string_view page, const std::map<std::string_view, std::string>& parts) {
  std::string html;
  while (true) {
    const std::size_t open = page.find("{{");
    // With npos this is the rest of the page.
    html += page.substr(0, open);
    if (open == std::string_view::npos) return html;
    const std::size_t close = page.find("}}", open);
    const auto part = parts.find(page.substr(open + 2, close - open - 2));
    // Page and parts are both in this program: a name without a part is its mistake.
    MUSTER_CHECK(part != parts.end(), "the page asks for a part that there is not");
    html += part->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace muster::report
