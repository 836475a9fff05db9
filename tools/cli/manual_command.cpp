#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

// Writes the manual pages from the commands themselves, as --help does, so that the two cannot say
// different things. The packaging calls it when it installs.

namespace muster::cli {
namespace {

using Commands = std::vector<const CLI::App*>;

/// Text for roff: no character of it is a request or an escape, and hyphens can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      // A dot or an apostrophe at the beginning of a line would begin a request.
      const bool begins = out.empty() || out.back() == '\n';
      if (begins && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
  }
  return out;
}

/// The commands below one that have a name and are meant for people.
Commands shown_below(const CLI::App& app) {
  Commands all;
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!inner->get_name().empty() && !inner->get_group().empty()) all.push_back(inner);
  }
  return all;
}

/// Its options and those of its option groups.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> all;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) all.push_back(option);
  }
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!group->get_name().empty()) continue;
    const auto inner = options_of(*group);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

/// "muster pki issue [OPTIONS] node"
std::string synopsis(const CLI::App& app, const std::string& name) {
  std::string text = ".B " + escaped(name) + "\n[OPTIONS]";
  for (const CLI::Option* option : options_of(app)) {
    if (!option->get_positional()) continue;
    const std::string word = option->get_name(true, false);
    const std::string more = option->get_expected_max() > 1 ? "..." : "";
    text += " " + escaped(option->get_required() ? word + more : "[" + word + more + "]");
  }
  if (!shown_below(app).empty()) text += " COMMAND";
  return text + "\n";
}

/// The value of an option: "DIR" or "{user,admin}", "[FILE]" when it may be left out, or nothing
/// behind a flag. The library's type names go on, behind colons, with what checks the value: a
/// single word there says more.
std::string argument_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size() == 0) return "";
  const std::string type = option.get_type_name();
  std::string shown;
  for (std::size_t begin = 0; begin <= type.size();) {
    const std::size_t end = std::min(type.find(':', begin), type.size());
    const std::string part = type.substr(begin, end - begin);
    const bool is_list = part.starts_with('{') && part.ends_with('}');
    const bool is_word = !part.empty() && std::all_of(part.begin(), part.end(),
                                                      [](char c) { return c >= 'A' && c <= 'Z'; });
    // Any text is what checks say of most.
    if (is_list || (is_word && (shown.empty() || part != "TEXT"))) shown = part;
    begin = end + 1;
  }
  const bool is_number = shown == "UINT" || shown == "INT" || shown == "FLOAT";
  const std::string named = shown.empty() ? "VALUE" : is_number ? "NUMBER" : shown;
  return option.get_expected_min() == 0 ? "[" + named + "]" : named;
}

void put_option(std::string& page, const CLI::Option& option) {
  const std::string name =
      option.get_positional() ? option.get_name(true, false) : option.get_name(false, true);
  const std::string argument = option.get_positional() ? "" : argument_of(option);
  page += ".TP\n.B " + escaped(argument.empty() ? name : name + " " + argument) + "\n";
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) text += " [" + option.get_default_str() + "]";
  if (option.get_required()) text += " (has to be given)";
  page += (text.empty() ? "\\&" : escaped(text)) + "\n";
}

/// A command's options; below it its subcommands, each with its own.
void put_command(std::string& page, const CLI::App& app, const std::string& name) {
  const auto options = options_of(app);
  if (!options.empty()) page += ".SH OPTIONS\n";
  for (const CLI::Option* option : options) put_option(page, *option);
  const Commands inner = shown_below(app);
  if (!inner.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* command : inner) {
    const std::string whole = name + " " + command->get_name();
    page += ".SS " + escaped(whole) + "\n" + escaped(command->get_description()) + "\n.PP\n" +
            synopsis(*command, whole);
    for (const CLI::Option* option : options_of(*command)) put_option(page, *option);
  }
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

/// The page of one command; of muster itself it lists the commands only.
std::string page_of(const CLI::App& app, const std::string& file, const std::string& version) {
  const bool whole = file == "muster";
  const std::string name = whole ? "muster" : "muster " + app.get_name();
  std::string page = ".TH " + escaped(upper(file)) + " 1 \"\" \"muster " + version +
                     "\" \"Muster\"\n.SH NAME\n" + escaped(file) + " \\- " +
                     escaped(app.get_description()) + "\n.SH SYNOPSIS\n" + synopsis(app, name);
  std::string also = ".BR muster (1)";
  if (whole) {
    page += ".SH OPTIONS\n";
    for (const CLI::Option* option : options_of(app)) put_option(page, *option);
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : shown_below(app)) {
      page += ".TP\n.BR muster\\-" + escaped(command->get_name()) + " (1)\n" +
              escaped(command->get_description()) + "\n";
    }
    also = "The README and the folder docs of the package.";
  } else {
    put_command(page, app, name);
  }
  if (!app.get_footer().empty()) page += ".SH NOTES\n" + escaped(app.get_footer()) + "\n";
  return page + ".SH SEE ALSO\n" + also + "\n";
}

int write_manual(const CLI::App& app, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    complain("cannot make " + folder.string() + ": " + error.message());
    return kFailed;
  }
  const auto write = [&](const CLI::App& command, const std::string& name) {
    const std::filesystem::path file = folder / (name + ".1");
    std::ofstream out(file, std::ios::trunc);
    out << page_of(command, name, MUSTER_VERSION);
    if (out.flush()) return true;
    complain("cannot write " + file.string());
    return false;
  };
  if (!write(app, "muster")) return kFailed;
  for (const CLI::App* command : shown_below(app)) {
    if (!write(*command, "muster-" + command->get_name())) return kFailed;
  }
  return kDone;
}

}  // namespace

void add_manual(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("manual", "Write the manual pages of all commands into a folder");
  auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "made when it is not there")->required();
  command->callback([folder, &app, &exit_code] { exit_code = write_manual(app, *folder); });
}

}  // namespace muster::cli
