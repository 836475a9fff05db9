#include "config/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/request_text.hpp"

namespace muster {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// As the options of other schedulers begin in a script.
constexpr std::array<std::string_view, 5> kOthersLines = {"#SBATCH", "#PBS", "#BSUB", "#$ -",
                                                          "#HQ"};

std::size_t line_of(std::string_view text, std::size_t at) {
  return static_cast<std::size_t>(
             std::count(text.begin(), text.begin() + static_cast<int>(at), '\n')) +
         1;
}

std::string dos_fault(std::string_view text, std::size_t at) {
  const std::string_view first = text.substr(0, text.find('\n'));
  std::string why;
  if (first.starts_with("#!") && first.ends_with('\r')) {
    std::string_view name = first.substr(2, first.size() - 3);
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
    why = fmt::format(", so its interpreter '{:.100}\\r' would not be there",
                      config::is_one_line(name) ? name : std::string_view("?"));
  }
  return fmt::format(
      "has DOS line ends (\\r\\n, the first in line {}){}: convert it, with dos2unix or sed -i "
      "'s/\\r$//'",
      line_of(text, at), why);
}

}  // namespace

bool is_script(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text.starts_with("#!");
}

std::string script_fault(std::string_view text) {
  if (text.empty()) return "is empty: it says nothing to run";
  if (text.find('\0') != std::string_view::npos) {
    return "is a program and no script, as it has zero bytes: to run it where it is, give it as a "
           "command (muster submit -- PROGRAM ARGUMENTS...)";
  }
  if (text.size() > kMaxScriptBytes) {
    return fmt::format(
        "has to be at most {} bytes; it is {} (put what is long into a file that it reads)",
        kMaxScriptBytes, text.size());
  }
  if (!config::is_utf8(text)) return "has to be UTF-8 text";
  if (text.starts_with(kByteOrderMark)) {
    return "begins with a byte order mark, so that no system finds its '#!': save it without one";
  }
  const std::size_t dos = text.find("\r\n");
  if (dos != std::string_view::npos) return dos_fault(text, dos);
  return {};
}

std::string unread_lines(std::string_view text) {
  std::size_t count = 0;
  std::size_t first = 0;
  std::string_view kind;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++line;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    for (const std::string_view marker : kOthersLines) {
      if (!text.substr(begin, end - begin).starts_with(marker)) continue;
      if (count++ == 0) {
        first = line;
        kind = marker.substr(0, marker.find(' '));
      }
    }
    begin = end + 1;
  }
  if (count == 0) return {};
  return fmt::format(
      "its {} line{} (line {}{}) {} not read: give what {} as options before its name, such as "
      "--cpus 4 --memory 8GiB --time 2h --array 0-99",
      kind, count == 1 ? "" : "s", first, count == 1 ? "" : fmt::format(" and {} more", count - 1),
      count == 1 ? "is" : "are", count == 1 ? "it says" : "they say");
}

}  // namespace muster
