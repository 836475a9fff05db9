#pragma once

#include <string>

#include "serve/api/http.hpp"
#include "serve/api/token_book.hpp"

// Answers of the API about its tokens, in the shapes of docs/api.md.

namespace muster::api {

/// User and role of the caller's token, and whether this node has the join port.
Response answer_me(const Principal& who, bool join_port);
/// All tokens, without anything secret.
Response answer_tokens(TokenBook& book);
/// Carries out what the body asks for, and answers with the token; a new one with its secret. These
/// may wait for a disk, or for another API of this machine.
Response answer_create(TokenBook& book, const std::string& body, const RequestMark& mark);
/// Revokes the token that the path names.
Response answer_revoke(TokenBook& book, const std::string& name);
/// Gives the token that the path names a new secret.
Response answer_rotate(TokenBook& book, const std::string& name, const std::string& body,
                       const RequestMark& mark);

}  // namespace muster::api
