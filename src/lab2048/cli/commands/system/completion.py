"""`lab2048 completion`: shell completion of commands, options, players and games."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from lab2048.cli.command_tree import Command
from lab2048.cli.option_types import OneOf
from lab2048.cli.options import say
from lab2048.cli.settings import Settings, has_files

# Bash splits words at : and =, which players contain.  So the script splits the line itself, and removes
# from the candidates what Bash counts as a previous word.
_BASH = r"""# lab2048 completion for bash; in ~/.bashrc: eval "$(lab2048 completion bash)"
_lab2048() {
    local line="${COMP_LINE:0:COMP_POINT}" words=() text cut
    local current="${line##*[[:space:]]}"
    read -r -a words <<<"${line%"$current"}"
    cut="${current%"${current##*[$COMP_WORDBREAKS]}"}"
    COMPREPLY=()
    while IFS= read -r text; do
        text="${text%%$'\t'*}"
        case "$text" in
            :files) compopt -o default 2>/dev/null; return ;;
            :folders) compopt -o dirnames 2>/dev/null; return ;;
        esac
        COMPREPLY+=("${text#"$cut"}")
    done < <("${words[0]}" __complete -- "${words[@]:1}" "$current" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=.] ]] && compopt -o nospace 2>/dev/null
}
complete -F _lab2048 lab2048
"""
_ZSH = r"""#compdef lab2048
# lab2048 completion for zsh; in ~/.zshrc, after compinit: eval "$(lab2048 completion zsh)"
_lab2048() {
    local -a lines plain open
    local line text doc tab=$'\t'
    lines=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    case "${lines[1]}" in
        :files*) _files; return ;;
        :folders*) _files -/; return ;;
    esac
    for line in "${lines[@]}"; do
        [[ -n "$line" ]] || continue
        text="${line%%$tab*}"; doc="${${line#"$text"}#$tab}"
        if [[ "$text" == *[:=.] ]]; then open+=("${text//:/\\:}:$doc"); else plain+=("${text//:/\\:}:$doc"); fi
    done
    (( ${#plain} )) && _describe 'lab2048' plain
    (( ${#open} )) && _describe 'lab2048' open -S ''
}
if [[ "${funcstack[1]}" == _lab2048 ]]; then _lab2048 "$@"; else compdef _lab2048 lab2048; fi
"""
_FISH = r"""# lab2048 completion for fish: lab2048 completion fish > ~/.config/fish/completions/lab2048.fish
function __lab2048_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l found ($program __complete -- $words "$current" 2>/dev/null)
    switch "$found[1]"
        case ':files*'
            __fish_complete_path "$current"
        case ':folders*'
            __fish_complete_directories "$current"
        case '*'
            printf '%s\n' $found
    end
end
complete -c lab2048 -f -a '(__lab2048_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_INSTALL_PATHS = {
    "bash": "~/.local/share/bash-completion/completions/lab2048",
    "zsh": "a folder of your fpath, as _lab2048",
    "fish": "~/.config/fish/completions/lab2048.fish",
}


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish."), OneOf(tuple(SCRIPTS))],
) -> None:
    """Print a script that makes your shell complete commands, options, players and games.

    Example: eval "$(lab2048 completion bash)"
    """
    print(SCRIPTS[shell], end="")
    if sys.stdout.isatty():
        say(f"to install it, save it as {_INSTALL_PATHS[shell]}; its first line says how to load it in every shell")


def print_candidates(root: Command, words: Sequence[str]) -> None:
    """Print the candidates for the shell scripts: one word per line, with its meaning after a tab."""
    from lab2048.cli.complete import complete

    if has_files():  # wrong settings are reported when a command is run
        Settings.read(root).export("store")
    for candidate in complete(root, list(words[1:] if words[:1] == ["--"] else words)):
        print(f"{candidate.value}\t{' '.join((candidate.help or '').split())}".rstrip("\t"))
