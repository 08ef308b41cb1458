"""`assay completion`: scripts with which a shell completes commands, options and runs."""

import click

from assay.cli.support import output

#: Variable by which the shell requests completions; click derives it from the program's name.
_VARIABLE = "_ASSAY_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell: commands, options and runs.

    \b
    bash  assay completion bash > ~/.local/share/bash-completion/completions/assay
    zsh   assay completion zsh > ~/.zfunc/_assay   (a folder of $fpath; then: autoload -U compinit && compinit)
    fish  assay completion fish > ~/.config/fish/completions/assay.fish

    For the present shell alone: eval "$(assay completion bash)".
    """  # noqa: D301 (click's mark for lines that are not wrapped)
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 (click has these three)
    output.hand_over(made(root.command, {}, "assay", _VARIABLE).source())
