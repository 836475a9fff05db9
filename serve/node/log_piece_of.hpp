#pragma once

#include "actors/messages/messages.hpp"
#include "serve/api/log_piece.hpp"

namespace muster {

/// A master's answer, for the API.
inline api::LogPiece piece_of(const LogAnswer& answer) {
  api::LogPiece piece;
  piece.attempt = answer.attempt;
  piece.offset = answer.offset;
  piece.bytes = answer.text;
  // Workers of an earlier version do not say how much there is.
  const bool said = answer.end > 0 || answer.text.empty();
  if (said) piece.size = answer.end;
  piece.more = answer.more_may_come;
  piece.lost = answer.lost;
  return piece;
}

}  // namespace muster
