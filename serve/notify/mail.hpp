#pragma once

#include <filesystem>
#include <string>

#include "model/time.hpp"
#include "serve/notify/outbox.hpp"

namespace muster::notify {

/// Gives a mail to the program, as sendmail takes it: `PROGRAM -i [-f FROM] -- TO`, the mail at its
/// standard input. Arrival: it ended with 0 within the limit; else it is killed. May be called from
/// several threads.
struct Mail {
  std::string to;    ///< is_mail_address() takes it
  std::string from;  ///< empty: the program's choice
  std::string text;  ///< headers and all
};
Delivery send_mail(const std::filesystem::path& program, const Mail& mail, Duration limit);

}  // namespace muster::notify
