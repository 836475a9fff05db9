#include "actors/link/openssl_handles.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "model/hexadecimal.hpp"

namespace muster::ssl {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr mode_t kGroupAndOthers = 077;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Failure<LinkError> unreadable(const std::filesystem::path& file, const std::string& why) {
  return {LinkError::unreadable, file.string() + ": cannot be read: " + why};
}

Failure<LinkError> bad(const std::filesystem::path& file, const std::string& why) {
  return {LinkError::bad_material, file.string() + ": " + why};
}

Bio memory(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Stands in for the question for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

std::string last_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "error " + std::to_string(code);
}

Expected<std::string, LinkError> read_file(const std::filesystem::path& file, bool secret) {
  if (file.empty()) {
    return Failure<LinkError>{LinkError::unreadable,
                              "a TLS file is not set: certificate, key and trusted are all needed"};
  }
  // O_NONBLOCK: opening a pipe by mistake would wait for ever.
  const Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (in.number() < 0) return unreadable(file, std::strerror(errno));
  struct stat about {};
  // Asked of the open file, not of its name, which may lead elsewhere by now.
  if (fstat(in.number(), &about) != 0) return unreadable(file, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return unreadable(file, "it is not a regular file");
  if (secret && (about.st_mode & kGroupAndOthers) != 0) {
    return bad(file, "is open to others than its owner; a key needs mode 0600 (chmod 600)");
  }
  // An owner of a key knows it, and may put another in its place.
  if (secret && about.st_uid != geteuid() && about.st_uid != 0) {
    return bad(file, "belongs to the user " + std::to_string(about.st_uid) +
                         "; a key has to be root's or that of the user " +
                         std::to_string(geteuid()) + ", as whom this process runs (chown)");
  }
  std::string content;
  std::array<char, 4096> block{};
  while (content.size() <= kMaxFileBytes) {
    const ssize_t got = read(in.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(file, std::strerror(errno));
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
  return bad(file, "is larger than 1 MiB, so it is not a certificate or key");
}

Expected<std::vector<Certificate>, LinkError> read_certificates(const std::filesystem::path& file) {
  auto text = read_file(file);
  if (!text) return text.error();
  ERR_clear_error();
  const Bio bio = memory(text.value());
  std::vector<Certificate> found;
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)) {
    found.emplace_back(next);
  }
  // The loop always ends with an error; this one only says that nothing more begins.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = last_error();
  if (found.empty() && at_end) {
    return bad(file, "holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)");
  }
  if (!at_end) {
    return bad(file, "certificate " + std::to_string(found.size() + 1) +
                         " in it is not a valid PEM certificate: " + why);
  }
  return found;
}

Expected<Key, LinkError> read_key(const std::filesystem::path& file) {
  auto text = read_file(file, true);
  if (!text) return text.error();
  ERR_clear_error();
  const Bio bio = memory(text.value());
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  // A copy of the key; OpenSSL keeps its own.
  OPENSSL_cleanse(text.value().data(), text.value().size());
  if (!key) {
    return bad(file,
               "holds no unencrypted private key in PEM form (-----BEGIN PRIVATE KEY-----): " +
                   last_error());
  }
  return key;
}

Expected<bool, LinkError> check_validity(const X509* certificate,
                                         const std::filesystem::path& file) {
  const ASN1_TIME* from = X509_get0_notBefore(certificate);
  const ASN1_TIME* to = X509_get0_notAfter(certificate);
  if (X509_cmp_current_time(from) > 0) {
    return Failure<LinkError>{LinkError::expired,
                              file.string() + ": is not valid before " + time_text(from)};
  }
  if (X509_cmp_current_time(to) < 0) {
    return Failure<LinkError>{LinkError::expired, file.string() + ": expired on " + time_text(to)};
  }
  return true;
}

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  // Two names are none: which one would count is not defined.
  if (at < 0 || X509_NAME_get_index_by_NID(name, NID_commonName, at) >= 0) return {};
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, value);
  if (size < 0) return {};
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return std::ranges::any_of(text, control) ? std::string{} : text;
}

std::string fingerprint(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  return hexadecimal({digest.data(), size});
}

std::string time_text(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable time";
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), size};
}

}  // namespace muster::ssl
