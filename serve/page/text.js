"use strict";
// What all scripts of the page share: words for amounts and times, and tables whose rows keep their
// place and focus while their text changes. Amounts and times read as the commands print them.

const by_id = (id) => document.getElementById(id);

// The same digits as the commands: four behind the point below $10, else two.
function usd(amount) {
  if (amount !== 0 && Math.abs(amount) < 0.00005) return "<$0.0001";
  return "$" + amount.toFixed(Math.abs(amount) < 10 ? 4 : 2);
}

// UTC, which is said beside it; the commands print the reader's own time. The last second is that
// of the year 9999.
function moment(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  if (!(seconds >= 0 && seconds <= 253402300799)) return "?";
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}

// "14:05:09"
const clock = (seconds) => moment(seconds).slice(11, 19);

// An amount of which cents are enough, such as a cap.
const cents = (amount) => "$" + amount.toFixed(2);

// "42s", "3m07s", "2h05m"
function ran(seconds) {
  if (seconds === null || seconds === undefined || !(seconds >= 0 && seconds < 1e15)) return "-";
  const whole = Math.floor(seconds);
  const two = (number) => String(number).padStart(2, "0");
  if (whole < 60) return whole + "s";
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}m`;
}

// To hundredths: sums of demands such as 0.1 + 0.2 have rounding errors that nobody wants to see.
const rounded = (number) => String(Math.round(number * 100) / 100);

const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

function silence({ master, site, cloud, since_s, last }) {
  const name = master ?? (cloud === undefined ? "site " + site : "the cloud of node " + cloud);
  const who = `${name} does not answer${since_s >= 0 ? ` since ${Math.round(since_s)} s` : ""}`;
  if (!last) return who;
  return `${who}; it last said ${usd(last.usd_h)}/h, ${plural(last.instances, "instance")}`;
}

// What a list lacks because somebody did not answer.
function lacks(silent, what) {
  if (!silent || silent.length === 0) return "";
  const names = silent.map(({ master, site, cloud }) => master ?? site ?? cloud).join(", ");
  return `${names} ${silent.length > 1 ? "do" : "does"} not answer: ${what} may be missing.`;
}

// What cannot be seen or leads what is around it astray: its number is shown, as by the commands.
const HIDDEN = new RegExp("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5"
  + "\\u180b-\\u180f\\u3164\\uffa0]", "gu");
const readable = (text) => String(text).replace(HIDDEN, (letter) => letter === "\n" ? letter
  : "\\u" + letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));

// The command as one types it into bash.
function shellLine(words) {
  const bytes = (text) => Array.from(new TextEncoder().encode(text),
    (byte) => "\\x" + byte.toString(16).padStart(2, "0")).join("");
  const escapes = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "'": "\\'", "\\": "\\\\" };
  const reserved = new RegExp("^(if|then|else|elif|fi|do|done|case|esac|for|in|time|while|until"
    + "|select|function|coproc)$");
  return words.map((word, place) => {
    const first = place === 0 && (/=|^%/.test(word) || reserved.test(word));
    if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) && !first) return word;
    if (!word.match(HIDDEN)) return "'" + word.replaceAll("'", "'\\''") + "'";
    return "$'" + Array.from(word, (letter) => escapes[letter]
      ?? (letter.match(HIDDEN) ? bytes(letter) : letter)).join("") + "'";
  }).join(" ");
}

function setText(node, text) {
  const wanted = readable(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

function cell(kind) {
  const node = document.createElement("td");
  node.setAttribute("role", "cell");
  if (kind) node.className = kind;
  return node;
}

// Fills the node with what `make` returns, unless it shows `key` already: what has the focus stays.
function setNodes(node, key, make) {
  if (node.shown === key) return;
  node.shown = key;
  node.replaceChildren(...make());
}

// Text of users, isolated, so that letters which go from right to left turn nothing else around; it
// may be broken behind its marks, but not within a number.
function named(text) {
  const node = document.createElement("bdi");
  readable(text).split(/(?<=[-_/:@])|(?<=[.])(?!\d)/).forEach((piece, i) => {
    if (i > 0) node.append(document.createElement("wbr"));
    node.append(piece);
  });
  return node;
}

const setName = (node, text) => setNodes(node, "name " + text, () => [named(text)]);

// A link to what has an address of its own, which can be sent to others: a job or an instance.
function linkTo(kind, number, text) {
  const node = document.createElement("a");
  node.href = `#/${kind}/${number}`;
  setText(node, text);
  return node;
}

// A sentence in which jobs and instances are links.
function linked(sentence) {
  const nodes = [];
  let end = 0;
  for (const found of sentence.matchAll(/\b(job|instance) (\d{1,18})\b/g)) {
    nodes.push(readable(sentence.slice(end, found.index)), linkTo(found[1], found[2], found[0]));
    end = found.index + found[0].length;
  }
  nodes.push(readable(sentence.slice(end)));
  return nodes;
}

const setLinked = (node, text) => setNodes(node, "text " + text, () => linked(text));

// What a list of terms and values says: `facts` are [term, text or node].
function showFacts(list, facts) {
  const key = JSON.stringify(facts.map(([term, value]) => [term, value.textContent ?? value]));
  setNodes(list, key, () => facts.map(([term, value]) => {
    const group = document.createElement("div");
    const name = group.appendChild(document.createElement("dt"));
    setText(name, term);
    group.appendChild(document.createElement("dd")).append(
      typeof value === "string" ? readable(value) : value);
    return group;
  }));
}

// The heads of a table's columns, which stand in each cell where the screen is narrow.
function headsOf(body) {
  if (!body.heads) {
    const cells = body.closest("table").tHead.rows[0].cells;
    body.heads = Array.from(cells, (head) => head.textContent.trim());
  }
  return body.heads;
}

// A row of a table that is laid out otherwise on narrow screens, where it stays a row by its role.
function makeRow() {
  const row = document.createElement("tr");
  row.setAttribute("role", "row");
  return row;
}

function headCells(body, row) {
  headsOf(body).forEach((head, i) => {
    if (row.cells[i]) row.cells[i].dataset.head = head;
  });
}

// Makes the body's rows those of `items`; `make` fills a new row and returns what updates it.
function showRows(body, items, key, make) {
  const known = body.known || (body.known = new Map());
  const present = new Set();
  items.forEach((item, place) => {
    const name = String(key(item));
    present.add(name);
    let entry = known.get(name);
    if (!entry) {
      const row = makeRow();
      entry = { row, update: make(row, item) };
      headCells(body, row);
      known.set(name, entry);
    }
    entry.update(item);
    const there = body.children[place];
    if (there !== entry.row) body.insertBefore(entry.row, there || null);
  });
  for (const [name, entry] of known) {
    if (!present.has(name)) {
      entry.row.remove();
      known.delete(name);
    }
  }
}

// A row of plain cells: `columns` are [class, text of an item].
function textRow(columns) {
  return (row) => {
    const cells = columns.map(([kind]) => row.appendChild(cell(kind)));
    return (item) => cells.forEach((node, i) => setText(node, columns[i][1](item)));
  };
}

function button(parent, action) {
  const node = document.createElement("button");
  node.type = "button";
  node.className = "plain";
  node.addEventListener("click", action);
  parent.appendChild(node);
  return node;
}

// Makes a button ask once more before it acts: the second click within 5 s does it.
function confirmed(node, word, act) {
  let timer = 0;
  const calm = () => {
    clearTimeout(timer);
    timer = 0;
    setText(node, word);
    node.classList.remove("sure");
  };
  setText(node, word);
  node.addEventListener("click", () => {
    if (timer) {
      calm();
      return act();
    }
    setText(node, `Really ${word.toLowerCase()}?`);
    node.classList.add("sure");
    timer = setTimeout(calm, 5000);
  });
  return calm;
}
