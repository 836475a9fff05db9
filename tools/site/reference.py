"""Writes the pages that the command itself knows best: commands, keys and policies."""

import json
import os
import re
import subprocess

WRITTEN = "This page is written by `{}` when the site is built.\n\n"


def asked(muster, *words):
    done = subprocess.run([muster, *words], capture_output=True, text=True, check=True)
    return done.stdout.replace(os.path.abspath(muster), "muster").replace(muster, "muster")


def commands_below(text):
    """The names in the list of subcommands of a help text."""
    _, _, listed = text.partition("Subcommands:\n")
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


def put_command(muster, words, out):
    text = asked(muster, "help", *words)
    first, _, rest = text.strip().partition("\n")
    out.append(f"{'#' * (len(words) + 1)} muster {' '.join(words)}\n\n{first}\n\n"
               f"```text\n{rest}\n```\n")
    for name in commands_below(text):
        put_command(muster, [*words, name], out)


def commands(muster):
    out = ["# Commands\n", WRITTEN.format("muster help COMMAND")]
    for name in commands_below(asked(muster, "--help")):
        if name != "help":
            put_command(muster, [name], out)
    return "\n".join(out)


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def keys(muster, title, *words):
    """The tables of `muster config-keys`, one a section of the file."""
    command = " ".join(["muster config-keys", *words])
    rows = [line for line in asked(muster, "config-keys", *words).split("\n")
            if line.startswith("| `")]
    out, section = [f"# {title}\n\n" + WRITTEN.format(command)], None
    for row in rows:
        key = re.match(r"\| `([^`]*)`", row).group(1)
        first = key.split(".")[0] if "." in key else ""
        if first != section:
            section = first
            heading = f"`{section}`" if section else "The file itself"
            out.append(f"\n## {heading}\n\n| key | type | default | range | meaning |\n"
                       "|---|---|---|---|---|\n")
        out.append(row.replace("${", "&#36;{") + "\n")
    return "".join(out)


def policies(muster):
    out = ["# Policies\n", WRITTEN.format("muster policies")]
    for policy in json.loads(asked(muster, "policies", "--json", "-"))["policies"]:
        out.append(f"## {policy['name']}\n\n{cell(policy['meaning'])}\n")
        if policy["params"]:
            out.append("| parameter | default | range | meaning |\n|---|---|---|---|")
            out += [f"| `{one['name']}` | {cell(one['default'])} | {cell(one['range'])} "
                    f"| {cell(one['meaning'])} |" for one in policy["params"]]
        out.append("")
    return "\n".join(out)


def api(muster):
    return ("# Requests and documents of the API\n\n" + WRITTEN.format("muster api")
            + "[The HTTP API](../api.md) says what holds for all of them.\n\n"
            + asked(muster, "api"))


def write(muster, folder):
    """Writes the pages into a folder, which is made when it is not there."""
    os.makedirs(folder, exist_ok=True)
    texts = {"commands.md": commands(muster), "policies.md": policies(muster),
             "api.md": api(muster),
             "replay-keys.md": keys(muster, "Keys of a replay"),
             "cluster-keys.md": keys(muster, "Keys of a cluster", "--cluster")}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
