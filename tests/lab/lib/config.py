# SPDX-License-Identifier: GPL-2.0-or-later
"""lab config: makes <lab>/fabric-check.toml of the lab's own keys, the file given
to `up --config` (its keys win), and keys set since (they win over both).

    config                    print it
    config [SECTION.]KEY=VALUE…  set; a VALUE that is not TOML is taken as a string
    config [SECTION.]KEY=     remove what was set
    config --file FILE        replace the file given to up
    config --reset            forget what was set

What fabric-check refuses (an unknown key, a value out of range) is refused here, and nothing changes.
"""

import os
import re
import subprocess
import sys
import tomllib

LAB = os.environ["FABRIC_CHECK_LAB"]
PARTS = [f"{LAB}/config.{p}" for p in ("base", "user", "set")]
RESULT = f"{LAB}/fabric-check.toml"
NAME = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""  # one part of a key


def read(path):
    """[(section, key, text)]: a section of [[tables]] is kept whole, under key None."""
    try:
        with open(path) as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return []
    items, section, array, value = [], "", None, None
    for line in lines:
        if value is not None:  # an array that goes on over several lines
            value[2] += "\n" + line
            if balanced(value[2]):
                items.append(tuple(value))
                value = None
            continue
        if re.match(r"\s*\[\[", line):
            array = [section, None, line]
            items.append(array)
            continue
        head = re.match(r"\s*\[([^\[\]]+)\]", line)
        if head:
            section, array = head[1].strip(), None
            continue
        if array is not None:
            array[2] += "\n" + line
            continue
        key = re.match(rf"\s*({NAME}(?:\s*\.\s*{NAME})*)\s*=\s*(.*)", line)
        if key:
            entry = [section, key[1], key[2]]
            if balanced(key[2]):
                items.append(tuple(entry))
            else:
                value = entry
    return [tuple(i) for i in items]


def balanced(text):
    bare = re.sub(r'"(\\.|[^"\\])*"|\'[^\']*\'|#.*', "", text)
    return all(bare.count(a) <= bare.count(b) for a, b in ("[]", "{}"))


def write(path, items):
    sections = {"": []}
    arrays = []
    for section, key, text in items:
        if key is None:
            arrays.append(text)
        else:
            sections.setdefault(section, []).append(f"{key} = {text}")
    out = []
    for section, lines in sections.items():
        if section and lines:
            out.append(f"\n[{section}]")
        out += lines
    with open(path + ".new", "w") as f:
        f.write("\n".join(out + arrays) + "\n")
    os.replace(path + ".new", path)


def merge(path=RESULT):
    merged, arrays = {}, []
    for part in PARTS:
        for section, key, text in read(part):
            if key is None:
                arrays.append((section, None, text))
            else:
                merged[section, key] = text
    write(path, [(s, k, t) for (s, k), t in merged.items()] + arrays)


def complaint():
    """What fabric-check itself says against the configuration as it would be; None if nothing, or if it is not built."""
    program = os.environ.get("FABRIC_CHECK_BUILD", "") + "/bin/fabric-check"
    if not os.access(program, os.X_OK):
        return None
    trial = f"{RESULT}.trial"
    merge(trial)
    # A command that reads the configuration before anything else, and fails with 2 only over that.
    run = subprocess.run([program, "--config", trial, "report", "4294967295"], capture_output=True, text=True)
    os.remove(trial)
    return re.sub(r"^.*?\.trial:\d+: ", "", run.stderr.strip()) if run.returncode == 2 else None


def contents():
    out = {}
    for part in PARTS[1:]:
        if os.path.exists(part):
            with open(part) as f:
                out[part] = f.read()
    return out


def put_back(old):
    for part in PARTS[1:]:
        if part in old:
            with open(part, "w") as f:
                f.write(old[part])
        elif os.path.exists(part):
            os.remove(part)


def set_keys(pairs):
    items = {(s, k): t for s, k, t in read(PARTS[2])}
    for pair in pairs:
        split = re.match(rf"\s*(?:((?:{NAME}\.)*{NAME})\.)?({NAME})\s*=(.*)", pair, re.S)
        section, key, text = split.groups(default="") if split else ("", "", "")
        if not key:
            refuse(f"not [SECTION.]KEY=VALUE: {pair}")
        if text == "":
            items.pop((section, key), None)
            continue
        try:
            tomllib.loads(f"x = {text}")
        except tomllib.TOMLDecodeError:
            text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        items[section, key] = text
    write(PARTS[2], [(s, k, t) for (s, k), t in items.items()])


def refuse(message):
    print(f"lab: config: {message}", file=sys.stderr)
    sys.exit(2)


def main(args):
    if not args:
        with open(RESULT) as f:
            sys.stdout.write(f.read())
        return
    old = contents()
    if args[:1] == ["--reset"]:
        if os.path.exists(PARTS[2]):
            os.remove(PARTS[2])
        args = args[1:]
    if args[:1] == ["--file"]:
        if len(args) < 2:
            refuse("--file needs a file")
        with open(args[1]) as f, open(PARTS[1], "w") as out:
            out.write(f.read())
        args = args[2:]
    if args:
        set_keys(args)
    if wrong := complaint():
        put_back(old)
        refuse(wrong)
    merge()


main(sys.argv[1:])
