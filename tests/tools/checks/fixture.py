"""Runs the checks of tools/checks on small project trees."""

import os
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CHECKS = os.path.join(TESTS, "../tools/checks")
sys.path.insert(0, os.path.join(TESTS, "support"))
from golden import assert_golden


def write(root, files):
    for path, text in files.items():
        whole = os.path.join(root, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)


def run(name, *arguments):
    """(exit status, output) of tools/checks/NAME."""
    done = subprocess.run([sys.executable, "-B", os.path.join(CHECKS, name), *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def check(name, files):
    """(exit status, output) of tools/checks/NAME on a tree of the given files."""
    with tempfile.TemporaryDirectory(prefix="muster-house-") as root:
        write(root, files)
        return run(name, root)
