#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"

// Writes completion scripts for bash and zsh from the commands themselves, so that no list of words
// has to be kept beside them. The scripts hold all words but the numbers of jobs, for which they
// ask the cluster where one may stand.

namespace muster::cli {
namespace {

/// A command with everything that may stand behind it.
struct Completed {
  std::string name;
  std::string meaning;
  std::vector<std::string> commands;
  std::vector<std::pair<std::string, std::string>> options;  ///< name, meaning
  std::map<std::string, std::string> values;  ///< of an option that chooses: words, by its name
  bool takes_jobs = false;                    ///< numbers of jobs may stand behind it
};

/// The text in single quotes, for a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Without what _arguments and _describe of zsh give a meaning to.
std::string zsh_meaning(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// The words that an option chooses among, as its help lists them: "TEXT:{active,over,all}". Empty:
/// it takes others, too.
std::string choices_of_option(const CLI::Option& option, const ValueWords& known) {
  for (const std::string& name : option.get_lnames()) {
    if (const auto words = known.find("--" + name); words != known.end()) {
      return fmt::format("{}", fmt::join(words->second, " "));
    }
  }
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::string words;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(list, word, ',');) {
    // A shell would offer the parts of such a word.
    if (word.find(' ') == std::string::npos) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

Completed described(const CLI::App& app, const std::string& name, const ValueWords& known) {
  Completed command{name, app.get_description(), {}, {}, {}, false};
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!inner->get_name().empty()) command.commands.push_back(inner->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string positional = option->get_positional() ? option->get_name(true) : "";
    command.takes_jobs |= positional == "job" || positional == "jobs";
    for (const std::string& word : option->get_lnames()) {
      command.options.emplace_back("--" + word, option->get_description());
      const std::string choices = choices_of_option(*option, known);
      if (!choices.empty()) command.values["--" + word] = choices;
    }
    for (const std::string& word : option->get_snames()) {
      command.options.emplace_back("-" + word, option->get_description());
    }
  }
  // The options of an option group are listed by the group.
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!group->get_name().empty()) continue;
    const Completed inner = described(*group, "", known);
    command.values.insert(inner.values.begin(), inner.values.end());
    command.options.insert(command.options.end(), inner.options.begin(), inner.options.end());
  }
  // Options of groups come behind the others and may repeat them.
  std::sort(command.options.begin(), command.options.end());
  command.options.erase(std::unique(command.options.begin(), command.options.end()),
                        command.options.end());
  return command;
}

/// Every command, "muster" first; those below another one by both their names.
void collect(const CLI::App& app, const std::string& name, const ValueWords& known,
             std::vector<Completed>& all) {
  all.push_back(described(app, name, known));
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!inner->get_name().empty()) collect(*inner, name + " " + inner->get_name(), known, all);
  }
}

std::string words_of(const Completed& command) {
  std::string words;
  for (const std::string& name : command.commands) words += " " + name;
  for (const auto& [option, meaning] : command.options) words += " " + option;
  return words.empty() ? words : words.substr(1);
}

/// A pattern of `case`, in either shell, that all commands match.
std::string pattern_of_known(const std::vector<Completed>& all) {
  std::string known;
  for (const Completed& command : all) {
    // The walk over the words begins at it; it is never one that follows another.
    if (command.name == "muster") continue;
    known += (known.empty() ? "" : " | ") + quoted(command.name);
  }
  return known;
}

/// Branches of a `case` on the command and the option that the word stands behind.
std::string value_cases(const std::vector<Completed>& all, const std::string& offer) {
  std::string cases;
  for (const Completed& command : all) {
    for (const auto& [option, words] : command.values) {
      cases += "    " + quoted(command.name + " " + option) + ") " +
               fmt::format(fmt::runtime(offer), words) + " ;;\n";
    }
  }
  return cases;
}

/// A pattern of `case` that the commands match which take numbers of jobs.
std::string pattern_of_jobs(const std::vector<Completed>& all) {
  std::string pattern;
  for (const Completed& command : all) {
    if (!command.takes_jobs) continue;
    pattern += (pattern.empty() ? "" : " | ") + quoted(command.name);
  }
  return pattern;
}

// A list that is bounded, and no long wait for a cluster that does not answer: somebody is typing.
constexpr const char* kJobsFunction = R"(_muster_jobs() {
  local number rest
  timeout 2 muster jobs --limit 50 --retry-for 0s 2>/dev/null | while read -r number rest; do
    case $number in
      '' | *[!0-9]*) ;;
      *) echo "$number" ;;
    esac
  done
}
)";

std::string bash_script(const std::vector<Completed>& all) {
  std::string script = "# Completion of muster for bash; written by `muster completion bash`.\n";
  script += kJobsFunction;
  script += R"(_muster() {
  local current=${COMP_WORDS[COMP_CWORD]} verb=muster words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$verb ${COMP_WORDS[i]}" in
)";
  std::string cases;
  for (const Completed& command : all) {
    cases += "    " + quoted(command.name) + ") words=" + quoted(words_of(command)) + " ;;\n";
  }
  script += "      " + pattern_of_known(all) + R"() verb="$verb ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$verb" in
)" + cases + R"(  esac
  case "$current" in
    '' | [0-9]*)
      case "$verb" in
        )" + pattern_of_jobs(all) +
            R"() words+=" $(_muster_jobs) " ;;
      esac
      ;;
  esac
  case "$verb ${COMP_WORDS[COMP_CWORD - 1]}" in
)" + value_cases(all, "words='{}'") +
            R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _muster muster
)";
  return script;
}

std::string zsh_command(const Completed& command) {
  std::string text = "    " + quoted(command.name) + ")\n      words_here=(\n";
  for (const std::string& name : command.commands) text += "        " + quoted(name) + "\n";
  for (const auto& [option, meaning] : command.options) {
    text += "        " + quoted(option + ":" + zsh_meaning(meaning)) + "\n";
  }
  return text + "      )\n      ;;\n";
}

std::string zsh_script(const std::vector<Completed>& all) {
  std::string script =
      "#compdef muster\n# Completion of muster for zsh; written by `muster completion zsh`.\n";
  script += kJobsFunction;
  script += R"(_muster() {
  local verb=muster word
  local -a words_here
  for word in ${words[2,CURRENT-1]}; do
    case "$verb $word" in
)";
  std::string cases;
  for (const Completed& command : all) {
    cases += zsh_command(command);
  }
  script += "      " + pattern_of_known(all) + R"() verb="$verb $word" ;;
    esac
  done
  case "$verb ${words[CURRENT-1]}" in
)" + value_cases(all, "compadd -- {}; return") +
            R"(  esac
  case "$verb" in
)" + cases + R"(  esac
  case "$PREFIX" in
    '' | [0-9]*)
      case "$verb" in
        )" + pattern_of_jobs(all) +
            R"() compadd -V jobs -- $(_muster_jobs) ;;
      esac
      ;;
  esac
  _describe 'muster' words_here
  _files
}
compdef _muster muster
)";
  return script;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code, const ValueWords& known) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes muster's words");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([shell, known, &app, &exit_code] {
    std::vector<Completed> all;
    collect(app, "muster", known, all);
    print_text(*shell == "bash" ? bash_script(all) : zsh_script(all));
    exit_code = kDone;
  });
}

}  // namespace muster::cli
