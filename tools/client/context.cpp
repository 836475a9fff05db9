// Finds the cluster that a command talks to: flags before the environment's variables, and these
// before the local cluster of `muster up`.

#include "tools/client/context.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace muster::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestToken = 4096;
// Bytes that are read of a token file or client.json at most: a wrong name may be a large file.
constexpr std::size_t kLongestFile = 64 * 1024;

Failure<ContextError> invalid(std::string message) {
  return {ContextError::invalid, std::move(message)};
}

std::optional<std::string> read_short_file(const fs::path& file) {
  std::error_code ignored;
  // A stream of a folder opens and reads nothing: it would look like an empty file.
  if (fs::is_directory(file, ignored)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text(kLongestFile, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// A token goes into a header line: spaces, line breaks and control characters cannot.
bool is_token(const std::string& text) {
  return !text.empty() && text.size() <= kLongestToken &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

Expected<ClusterContext, ContextError> with_token(ClusterContext context, const std::string& token,
                                                  std::string source) {
  if (!is_token(token)) {
    return invalid(source + " holds no token: it has to be one word of plain letters and digits");
  }
  context.token = token;
  context.token_source = std::move(source);
  return context;
}

Expected<ClusterContext, ContextError> with_token_file(ClusterContext context,
                                                       const fs::path& file) {
  const auto text = read_short_file(file);
  if (!text) {
    return invalid("cannot read the token file " + file.string() +
                   ": is it there, and may you read it?");
  }
  // The first line alone, without the carriage return or spaces that an editor may leave.
  std::string token = text->substr(0, text->find('\n'));
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  return with_token(std::move(context), token, file.string());
}

Expected<ClusterContext, ContextError> with_api(const std::string& api, const std::string& source) {
  if (!api.starts_with("http://") && !api.starts_with("https://")) {
    return invalid(source + " has to be a URL like http://127.0.0.1:8800; it is '" + api + "'");
  }
  ClusterContext context;
  context.api = api;
  // Paths begin with a slash: with another one before it they would be other paths.
  while (context.api.ends_with('/')) context.api.pop_back();
  return context;
}

std::string text_at(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Without the token itself: its file is the token's source.
Expected<ClusterContext, ContextError> from_folder(const fs::path& folder) {
  const fs::path file = folder / "client.json";
  std::error_code why;
  const bool is_there = fs::exists(file, why);
  if (why == std::errc::permission_denied) {
    return invalid(file.string() +
                   ": permission denied: the cluster there is another user's; --api and "
                   "--token-file say where it is to who has a token of it");
  }
  if (!is_there) {
    return Failure<ContextError>{
        ContextError::no_cluster,
        "no cluster is known: there is no " + file.string() +
            "; start one with `muster up`, or say where one is with --api and --token-file"};
  }
  const auto text = read_short_file(file);
  // Without exceptions: a broken file gives a value that is no object.
  const auto document = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!document.is_object() || text_at(document, "api").empty() ||
      text_at(document, "token_file").empty()) {
    return invalid(file.string() +
                   R"(: has to be {"api": "http://...", "token_file": "..."}, as `muster up` )"
                   "writes it");
  }
  auto context = with_api(text_at(document, "api"), file.string() + ": api");
  if (!context) return context;
  for (const nlohmann::json& other : document.value("others", nlohmann::json::array())) {
    const std::string url = other.is_string() ? other.get<std::string>() : other.dump();
    const auto one = with_api(url, file.string() + ": others");
    if (!one) return one;
    context->others.push_back(one->api);
  }
  if (const std::string ca = text_at(document, "ca"); !ca.empty()) {
    context->ca = (folder / ca).string();
  }
  context->token_source = (folder / text_at(document, "token_file")).string();
  context->folder = folder;
  return context;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    // A variable that is set to nothing counts as not set, as scripts often do.
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

fs::path local_cluster_folder(const Environment& environment) {
  if (const auto state = environment("XDG_STATE_HOME")) return fs::path(*state) / "muster/local";
  fs::path home = environment("HOME").value_or("");
  if (home.empty()) {
    // As shells do: a service or `env -i` sets no HOME.
    const passwd* account = getpwuid(geteuid());
    if (account != nullptr && account->pw_dir != nullptr) home = account->pw_dir;
  }
  return home.is_absolute() ? home / ".local/state/muster/local" : fs::path();
}

namespace {

Expected<ClusterContext, ContextError> find_api(const ContextOptions& options,
                                                const Environment& environment) {
  const auto variable = [&](const char* name) { return environment(name).value_or(""); };
  // A folder that is named goes before MUSTER_API, a URL that is named before everything.
  const bool by_folder = options.api.empty() && !options.cluster.empty();
  const std::string api = by_folder || !options.api.empty() ? options.api : variable("MUSTER_API");
  std::string folder = by_folder ? options.cluster : variable("MUSTER_CLUSTER");
  if (folder.empty()) folder = local_cluster_folder(environment).string();
  if (folder.empty() && api.empty()) {
    return Failure<ContextError>{ContextError::no_cluster, std::string(kNoHome)};
  }
  auto found = api.empty() ? from_folder(folder)
                           : with_api(api, options.api.empty() ? "MUSTER_API" : "--api");
  if (!found) return found;
  ClusterContext context = std::move(found).value();
  const std::string beside = std::exchange(context.token_source, {});
  if (!options.token_file.empty()) return with_token_file(std::move(context), options.token_file);
  // A folder that is named comes with its token. Else who has set one acts as its user, and not as
  // the admin whose token lies in the folder.
  const std::string token = by_folder ? "" : variable("MUSTER_TOKEN");
  if (!token.empty()) return with_token(std::move(context), token, "MUSTER_TOKEN");
  const std::string file = by_folder ? "" : variable("MUSTER_TOKEN_FILE");
  if (!file.empty()) return with_token_file(std::move(context), file);
  if (!beside.empty()) return with_token_file(std::move(context), beside);
  return invalid("no token for " + context.api +
                 ": give --token-file, or set MUSTER_TOKEN or MUSTER_TOKEN_FILE");
}

}  // namespace

Expected<ClusterContext, ContextError> find_cluster(const ContextOptions& options,
                                                    const Environment& environment) {
  auto context = find_api(options, environment);
  if (!context) return context;
  const std::string source = options.ca.empty() ? "MUSTER_CA" : "--ca";
  const std::string ca = options.ca.empty() ? environment("MUSTER_CA").value_or("") : options.ca;
  if (!ca.empty()) context->ca = ca;
  // Checked here: libcurl tells a file that is not there from one that is not a certificate only by
  // a number.
  if (!context->ca.empty() && !read_short_file(context->ca)) {
    return invalid((ca.empty() ? "client.json: ca" : source) + ": cannot read " + context->ca +
                   ": it has to be a PEM file of certificates");
  }
  return context;
}

}  // namespace muster::client
