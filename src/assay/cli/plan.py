"""`assay plan`: what a study measures on this machine or another, in which order, and the cost."""

import shlex

import click

from assay.cli.support.options import RunOptions, packed


@click.command()
@click.argument("study")
@click.option("--from", "--machine-from", "xml", metavar="FILE.xml", help="Plan for a machine saved by lstopo.")
@click.option(
    "--synthetic", metavar="DESCRIPTION", help='Plan for a described machine: "pack:2 numa:4 core:8 pu:2".'
)
@packed("options", RunOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the whole plan as JSON.")
@click.option("--all", "every", is_flag=True, help="List every case.")
def command(  # noqa: PLR0913 (one parameter an option)
    study: str, xml: str | None, synthetic: str | None, *, as_json: bool, every: bool, options: RunOptions
) -> None:
    """Show what STUDY measures, without measuring.

    STUDY is the name of a stored study (see assay list studies), scale:BENCHMARK, like:REFERENCE, beside:NAME (an
    original program beside Assay), or the path of your own (.toml).
    """
    from rich.markup import escape

    from assay.cli.support import output, plan_page, site

    machine = site.other_machine(xml, synthetic, "a plan is for one")
    made, machines = plan_page.planned(study, machine, options)
    if as_json:
        output.print_json(made)
        return
    console = output.console(markup=True)
    plan_page.show(made, console, every=every)
    if made.full:
        plan_page.show_largest(made, machines, console)
    where = "" if machine is None else ", on that machine"
    again = output.typed({"study", "xml", "synthetic", "as_json", "every"})
    command = shlex.join(["assay", "run", study, *again])
    console.print(f"\nnext: [bold]{escape(command)}[/bold]{where}", soft_wrap=True)
