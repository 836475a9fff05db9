// A small client of HTTP over TLS, for one machine that asks now and then: blocking calls with
// times, so that it is simple to see what has been sent to whom. The authority is proven within the
// handshake, before a byte of a request leaves.

#include "serve/hosts/host_client.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "actors/link/join_pki.hpp"
#include "actors/link/openssl_handles.hpp"
#include "serve/hosts/join_protocol.hpp"
#include "workers/process/descriptor.hpp"

namespace muster::hosts {
namespace {

using Refused = Failure<AskError>;
using Socket = process::Descriptor;
using Ssl = std::unique_ptr<SSL, ssl::Releaser<&SSL_free>>;
using SslContext = std::unique_ptr<SSL_CTX, ssl::Releaser<&SSL_CTX_free>>;

constexpr int kConnectMs = 5000;
constexpr timeval kWait{10, 0};
constexpr std::size_t kMaxAnswer = std::size_t{256} << 10;

/// Has a chain hold that leads to the authority with that SHA-256, which the other end sends along.
int verify_by_print(X509_STORE_CTX* chain, void* print) {
  const auto* wanted = static_cast<const std::string*>(print);
  const STACK_OF(X509)* shown = X509_STORE_CTX_get0_untrusted(chain);
  X509* authority = nullptr;
  for (int i = 0; i < sk_X509_num(shown); ++i) {
    X509* each = sk_X509_value(shown, i);
    if (X509_check_ca(each) == 1 && ssl::fingerprint(each) == *wanted) authority = each;
  }
  if (authority == nullptr) {
    X509_STORE_CTX_set_error(chain, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN);
    return 0;
  }
  STACK_OF(X509)* trusted = sk_X509_new_null();
  if (trusted == nullptr || sk_X509_push(trusted, authority) <= 0) {
    sk_X509_free(trusted);
    return 0;
  }
  X509_STORE_CTX_set0_trusted_stack(chain, trusted);
  const int holds = X509_verify_cert(chain);
  sk_X509_free(trusted);
  return holds == 1 ? 1 : 0;
}

Refused unreachable(const Endpoint& place, const std::string& why) {
  return {AskError::unreachable,
          fmt::format("{} does not answer: {}; is it the address of node.join in the cluster file, "
                      "and may this machine reach that port?",
                      to_text(place), why)};
}

/// Connected, with times for each read and write.
Expected<std::shared_ptr<Socket>, AskError> connect_to(const Endpoint& place) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int bad =
      getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &wanted, &found);
  if (bad != 0) return unreachable(place, gai_strerror(bad));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
  std::string why;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    auto end = std::make_shared<Socket>(
        socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int error = *end ? 0 : errno;
    if (*end && connect(end->get(), each->ai_addr, each->ai_addrlen) != 0) {
      error = errno;
      pollfd polled{end->get(), POLLOUT, 0};
      if (error == EINPROGRESS) {
        error = ETIMEDOUT;
        socklen_t size = sizeof error;
        if (poll(&polled, 1, kConnectMs) > 0) {
          getsockopt(end->get(), SOL_SOCKET, SO_ERROR, &error, &size);
        }
      }
    }
    if (error == 0) {
      const int flags = fcntl(end->get(), F_GETFL);
      fcntl(end->get(), F_SETFL, flags & ~O_NONBLOCK);
      setsockopt(end->get(), SOL_SOCKET, SO_RCVTIMEO, &kWait, sizeof kWait);
      setsockopt(end->get(), SOL_SOCKET, SO_SNDTIMEO, &kWait, sizeof kWait);
      const int on = 1;
      setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return end;
    }
    why = std::strerror(error);
  }
  return unreachable(place, why);
}

Expected<bool, AskError> use_own(SSL_CTX* context, const TlsFiles& own) {
  const auto chain = ssl::read_certificates(own.certificate);
  if (!chain) return Refused{AskError::other, chain.error().message};
  const auto key = ssl::read_key(own.key);
  if (!key) return Refused{AskError::other, key.error().message};
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return Refused{AskError::other, own.certificate.string() + ": " + ssl::last_error()};
  }
  return true;
}

}  // namespace

/// One connection, as long as it holds.
class HostClient::Line {
 public:
  Line(JoinPort port, std::optional<TlsFiles> own) : port_(std::move(port)), own_(std::move(own)) {}

  Expected<std::string, AskError> post(const std::string& path, const std::string& body) {
    const bool was_open = ssl_ != nullptr;
    auto answer = try_post(path, body);
    // One that was open may have been closed for its idleness.
    if (!answer && was_open && answer.error().code == AskError::unreachable) {
      close();
      answer = try_post(path, body);
    }
    if (!answer && answer.error().code != AskError::refused) close();
    return answer;
  }
  int refused_status() const { return refused_status_; }

 private:
  Expected<std::string, AskError> try_post(const std::string& path, const std::string& body) {
    if (ssl_ == nullptr) {
      if (auto open = this->open(); !open) return open.error();
    }
    const std::string text = fmt::format(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: "
        "{}\r\n\r\n{}",
        path, to_text(port_.place), body.size(), body);
    ERR_clear_error();
    if (SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) <= 0) {
      return unreachable(port_.place, "the connection has ended");
    }
    return read_answer();
  }

  Expected<bool, AskError> open() {
    auto socket = connect_to(port_.place);
    if (!socket) return socket.error();
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (!context_) return Refused{AskError::other, "TLS: " + ssl::last_error()};
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context_.get(), verify_by_print, &port_.authority);
    SSL_CTX_set_mode(context_.get(), SSL_MODE_AUTO_RETRY);
    if (own_) {
      if (auto used = use_own(context_.get(), *own_); !used) return used.error();
    }
    Ssl line(SSL_new(context_.get()));
    socket_ = std::move(socket).value();
    if (!line || SSL_set_fd(line.get(), socket_->get()) != 1) {
      return Refused{AskError::other, "TLS: " + ssl::last_error()};
    }
    ERR_clear_error();
    if (SSL_connect(line.get()) != 1) return why_not(line.get());
    ssl_ = std::move(line);
    return true;
  }

  Refused why_not(SSL* line) {
    const long verdict = SSL_get_verify_result(line);
    ssl::last_error();
    switch (verdict) {
      case X509_V_OK:
        return {AskError::other,
                fmt::format("{} does not speak TLS with this machine: it has to be the address of "
                            "node.join in the cluster file",
                            to_text(port_.place))};
      case X509_V_ERR_CERT_NOT_YET_VALID:
      case X509_V_ERR_CERT_HAS_EXPIRED:
        return {AskError::clock,
                fmt::format(
                    "the certificate of {} {} by this machine's clock: set the clock "
                    "(`timedatectl set-ntp true`); nothing was sent",
                    to_text(port_.place),
                    verdict == X509_V_ERR_CERT_HAS_EXPIRED ? "has run out" : "is not valid yet")};
      default:
        return {AskError::stranger,
                fmt::format("{} is not of the cluster that the token is for: take the address of "
                            "that cluster, or a token of this one; nothing was sent",
                            to_text(port_.place))};
    }
  }

  /// Head and body of the answer, by the length that the head gives.
  Expected<std::string, AskError> read_answer() {
    std::string text;
    std::size_t head = std::string::npos;
    std::size_t whole = kMaxAnswer;
    char bytes[4096];
    while (head == std::string::npos || text.size() < whole) {
      const int got = SSL_read(ssl_.get(), bytes, sizeof bytes);
      if (got <= 0) return unreachable(port_.place, "no answer has come");
      text.append(bytes, static_cast<std::size_t>(got));
      if (text.size() > kMaxAnswer) return no_port();
      if (head != std::string::npos) continue;
      head = text.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const auto length = number_behind(text.substr(0, head), "\r\nContent-Length: ");
      if (!length || *length > kMaxAnswer) return no_port();
      whole = head + 4 + *length;
    }
    const auto status = number_behind(text, "HTTP/1.1 ");
    if (!status) return no_port();
    const bool ends = text.substr(0, head).find("Connection: close") != std::string::npos;
    const std::string body = text.substr(head + 4, whole - head - 4);
    if (ends) close();
    constexpr std::size_t kFirstFault = 300;
    if (*status < kFirstFault) return body;
    refused_status_ = static_cast<int>(*status);
    const std::string why = error_message_in(body);
    if (why.empty()) return no_port();
    return Refused{AskError::refused, why};
  }

  static std::optional<std::size_t> number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    std::size_t number = 0;
    const char* begin = text.data() + at + name.size();
    const auto [end, bad] = std::from_chars(begin, text.data() + text.size(), number);
    return bad == std::errc{} && end != begin ? std::optional(number) : std::nullopt;
  }
  Refused no_port() {
    return {AskError::other,
            fmt::format("{} does not answer as a join port does: it has to be the address of "
                        "node.join in the cluster file",
                        to_text(port_.place))};
  }
  void close() {
    ssl_.reset();
    socket_.reset();
  }

  JoinPort port_;
  std::optional<TlsFiles> own_;
  SslContext context_;
  std::shared_ptr<Socket> socket_;
  Ssl ssl_;
  int refused_status_ = 0;
};

HostClient::HostClient(JoinPort port)
    : line_(std::make_unique<Line>(std::move(port), std::nullopt)) {}
HostClient::HostClient(JoinPort port, TlsFiles own)
    : line_(std::make_unique<Line>(std::move(port), std::move(own))) {}
HostClient::~HostClient() = default;

Expected<std::string, AskError> HostClient::post(const std::string& path, const std::string& body) {
  return line_->post(path, body);
}

int HostClient::refused_status() const {
  return line_->refused_status();
}

}  // namespace muster::hosts
