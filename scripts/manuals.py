#!/usr/bin/env python3
"""Man pages, and completion for bash, zsh and fish, from what programs say of themselves, which comes from their flag tables.

usage: manuals.py FOLDER PROGRAM...
"""
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FLAG = re.compile(r"^  (?:(-\w+), )?(--[\w-]+)(?: (\S+))?(?:  +(.*))?$")
COMMAND = re.compile(r"^  ([a-z]+)(?: (\S.*?))?(?:  +(.*))?$")
FILES = {"PATH", "FILE", "DIR", "PLAN", "PROGRAM", "NAME=FILE", "INPUT=FILE"}


@dataclass
class Flag:
    name: str
    short: str
    value: str
    what: str


@dataclass
class Page:
    """What one --help says."""
    usage: str
    about: str
    flags: list = field(default_factory=list)
    commands: dict = field(default_factory=dict)


def read_page(words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SVOD_")}
    lines = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True, env=environment).stdout.splitlines()
    page, section, last = Page(lines[0].removeprefix("usage: "), ""), None, None
    for line in lines[1:]:
        if re.fullmatch(r"\w+:", line):
            section = line[:-1]
        elif section is None:
            page.about = f"{page.about} {line}".strip()
        elif section in ("flags", "lists") and (found := FLAG.match(line)):
            last = Flag(found[2], found[1] or "", found[3] or "", found[4] or "")
            page.flags.append(last)
        elif section == "commands" and (found := COMMAND.match(line)):
            last = Flag(found[1], "", found[2] or "", found[3] or "")
            page.commands[found[1]] = last
        elif last is not None and line.startswith(" " * 20):
            last.what = f"{last.what} {line.strip()}".strip()
        elif line.strip() == "":
            last = None
    return page


# --- man

def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def flag_roff(flag):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in (flag.short, flag.name) if name)
    return f".TP\n{names}" + (f" \\fI{roff(flag.value)}\\fR" if flag.value else "") + f"\n{roff(flag.what)}\n"


def man(name, page, commands):
    text = f'.TH {name.upper()} 1 "" "svod" "svod"\n.ad l\n.SH NAME\n{name} \\- {roff(ABOUT.get(name, page.about.split(".")[0]))}\n.SH SYNOPSIS\n'
    text += f"\\fB{name}\\fR{roff(page.usage.removeprefix(name))}\n"
    if page.about:
        text += f".SH DESCRIPTION\n{roff(page.about)}\n"
    for command, its in commands.items():
        text += f".SH {command.upper()}\n\\fB{roff(its.usage)}\\fR\n.PP\n{roff(its.about)}\n" + "".join(map(flag_roff, its.flags))
    text += ".SH FLAGS\n" + "".join(map(flag_roff, page.flags))
    return text + ".PP\nA value in parentheses is the default, a name in brackets an environment variable with the same meaning.\n" \
                  ".SH SEE ALSO\n" + ", ".join(f"\\fB{other}\\fR(1)" for other in ("svodc", "svod\\-run", "svod\\-opt") if other.replace("\\", "") != name) + "\n"


# --- completion

def names(flags):
    return [name for flag in flags for name in (flag.short, flag.name) if name]


def bash(name, page, commands):
    values = sorted({n for p in (page, *commands.values()) for f in p.flags if f.value for n in names([f])})
    files = sorted({n for p in (page, *commands.values()) for f in p.flags if f.value in FILES for n in names([f])})
    cases = "".join(f"    {command}) words='{' '.join(names(its.flags))}' ;;\n" for command, its in commands.items())
    function = "_" + name.replace("-", "_")
    return f"""# Completion of {name} for bash.
{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words
  COMPREPLY=()
  case $before in
    {'|'.join(files) or '//'}) COMPREPLY=($(compgen -f -- "$word")); return ;;
    {'|'.join(values) or '//'}) return ;;
  esac
  case ${{COMP_WORDS[1]}} in
{cases}    *) words='{' '.join(names(page.flags))}' ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 && -n '{' '.join(commands)}' ]]; then
    COMPREPLY=($(compgen -W '{' '.join(commands)}' -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F {function} {name}
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_flag(flag):
    what = re.sub(r"([\[\]:\\])", r"\\\1", flag.what)
    value = f":{flag.value.replace(':', '-')}:" + ("_files" if flag.value in FILES else "") if flag.value else ""
    return [quoted(f"*{name}[{what}]{value}") for name in (flag.short, flag.name) if name]


def zsh(name, page, commands):
    def arguments(flags):
        return " \\\n      ".join([item for flag in flags for item in zsh_flag(flag)] + ["'*:file:_files'"])

    if not commands:
        return f"#compdef {name}\n_arguments \\\n      {arguments(page.flags)}\n"
    described = " ".join(quoted(f"{command}:{page.commands[command].what}") for command in commands)
    cases = "".join(f"    {command}) _arguments \\\n      {arguments(its.flags)} ;;\n" for command, its in commands.items())
    return f"""#compdef {name}
if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
  local -a commands=({described})
  _describe command commands
else
  local command=$words[2]
  if [[ $command != -* ]]; then
    shift words
    (( CURRENT-- ))
  fi
  case $command in
{cases}    *) _arguments \\
      {arguments(page.flags)} ;;
  esac
fi
"""


def fish(name, page, commands):
    lines = [f"# Completion of {name} for fish."]
    for command in commands:
        lines.append(f"complete -c {name} -n __fish_use_subcommand -a {command} -d {quoted(page.commands[command].what)}")
    for command, its in (("", page), *commands.items()):
        when = f"__fish_seen_subcommand_from {command}" if command else "__fish_use_subcommand" if commands else ""
        for flag in its.flags:
            words = ["complete", "-c", name, *(["-n", quoted(when)] if when else []), "-l", flag.name[2:]]
            if flag.short:
                words += ["-s" if len(flag.short) == 2 else "-o", flag.short[1:]]
            words += ["-r" if flag.value in FILES else "-x"] if flag.value else []
            lines.append(" ".join([*words, "-d", quoted(flag.what)]))
    return "\n".join(lines) + "\n"


ABOUT = {"svodc": "compile tensor graphs to plans", "svod-run": "run a plan", "svod-opt": "run passes of the compiler on graphs as text"}
PLACES = {"man": ("man/man1/{}.1", man), "bash": ("bash-completion/completions/{}", bash),
          "zsh": ("zsh/site-functions/_{}", zsh), "fish": ("fish/vendor_completions.d/{}.fish", fish)}


def main():
    folder, *programs = sys.argv[1:]
    for program in programs:
        name, page = Path(program).name, read_page([program])
        commands = {command: read_page([program, command]) for command in page.commands}
        for place, write in PLACES.values():
            path = Path(folder) / place.format(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write(name, page, commands))


if __name__ == "__main__":
    main()
