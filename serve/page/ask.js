"use strict";
// Whose token the page uses, and how it asks the API.

const REQUEST_LIMIT_MS = 8000;
const TOKEN_KEY = "muster.token";
const RAW_PIECE = 1048576;
const MAX_DOWNLOAD = 64 * RAW_PIECE;

let offered = "";  // a link's token, where the tab has another one already

// A token in the address' fragment never reaches a server; it leaves the address bar, too. A tab
// that has a token keeps it until its user says otherwise: whoever sends a link would else have
// what is done next done as the user of the sender's token.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  const before = sessionStorage.getItem(TOKEN_KEY) || "";
  if (!token) return before;
  const job = given.get("job");
  history.replaceState(null, "", location.pathname + (job ? "#/job/" + job : ""));
  offered = before && before !== token ? token : "";
  if (offered) return before;
  sessionStorage.setItem(TOKEN_KEY, token);
  return token;
}

// From now on everything is asked with this token.
function useToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
  state.token = token;
  state.known = false;
  state.plain = null;
  closeOffer();
  pollNow();
}

function closeOffer() {
  offered = "";
  by_id("offer").hidden = true;
}

// Asks whether the link's token is to be used, and says whose it is.
async function showOffer() {
  if (!offered) return;
  const token = offered;
  let whose = "that the cluster does not know";
  let known = true;
  try {
    const me = await ask("/v1/me", { token });
    whose = `'${me.token}'` + (me.user ? `, which acts for ${me.user}` : "");
  } catch (error) {
    known = !(error instanceof Refused && error.status === 401);
    if (known) whose = "of which the cluster does not tell whose it is";
  }
  if (token !== offered) return;
  setText(by_id("offer-text"), `A link wants this tab to use the token ${whose}. ` +
    (known ? "All that you do from then on is done as its user." : "The one in use stays."));
  by_id("offer-take").hidden = !known;
  by_id("offer").hidden = false;
}

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// What the API answers; it is asked by `how`, {method, token, headers, body}.
async function answerTo(path, { method = "GET", token = state.token, headers = {}, body } = {}) {
  const answer = await fetch(path, {
    method,
    headers: { Authorization: "Bearer " + token, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  if (answer.ok) return answer;
  const document = await answer.json();
  throw new Refused(answer.status, document.error ? document.error.message : "");
}

async function ask(path, how) {
  return (await answerTo(path, how)).json();
}

// Whose token this is. A cluster that does not tell leaves everything to the token.
async function askMe() {
  try {
    state.me = await ask("/v1/me");
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    state.me = { token: "", role: "admin", user: "", join_port: false };
  }
  showMe();
}

// A number by which the cluster knows a request that comes twice.
function requestNumber() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Asks for a change and says beside its button what came of it: `done`, a sentence or nodes.
// Whether it was made.
async function change(path, said, done, body) {
  let made = false;
  setLinked(said, "…");
  try {
    const headers = { "Idempotency-Key": requestNumber() };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const answer = await ask(path, { method: "POST", headers, body });
    made = true;
    const open = answer.unconfirmed ?? [];
    const well = typeof done === "function" ? done(answer) : done;
    setLinked(said, open.length ? `Under way; not confirmed yet by ${open.join(", ")}.` : well);
  } catch (error) {
    const why = error instanceof Refused ? error.message : "the connection was lost";
    setLinked(said, `Not done: ${why}.`);
  }
  pollNow();
  return made;
}

// Shows what the answer to `path` is. One that came too late changes nothing, nor does one that
// there is no such thing (any more), or that the token may not see it.
async function refresh(turn, path, show, gone = () => {}, closed = gone) {
  try {
    const document = await ask(path);
    if (turn === state.turn) await show(document);
  } catch (error) {
    const after = error instanceof Refused ? { 403: closed, 404: gone }[error.status] : undefined;
    if (!after) throw error;
    if (turn === state.turn) await after(error.message);
  }
}

// The bytes of an output as it is now, the first MAX_DOWNLOAD of them, and whether there are more.
async function outputBytes(path) {
  const pieces = [];
  let offset = 0;
  let more = true;
  while (more && offset < MAX_DOWNLOAD) {
    const answer = await answerTo(`${path}&raw=1&offset=${offset}&max=${RAW_PIECE}`);
    const bytes = await answer.arrayBuffer();
    const next = Number(answer.headers.get("Muster-Next-Offset") ?? offset + bytes.byteLength);
    // Of a task that runs there is always more to come; what is there has been read.
    more = answer.headers.get("Muster-More") === "1" && bytes.byteLength > 0 && next > offset;
    pieces.push(bytes);
    offset = next;
  }
  return { pieces, cut: more };
}

// Hands the file to the browser. The API wants the token in a header, so a link alone would not do.
function saveAs(name, pieces) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(pieces, { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
