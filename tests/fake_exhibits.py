"""Exhibits that are made at once, or fail in all ways there are."""

import pandas as pd

from sharpley_experiments.common.style import new_figure
from sharpley_experiments.paper.exhibits import Details, Exhibit, Finding

TABLE = pd.DataFrame({"method": ["a<b>", "c"], "error": [0.1, 1 / 3]})
SPECIAL = '<script>throw "caught"</script> & "quotes"'


def compute(context):
    return TABLE


def no_network(context):
    raise OSError("cannot download <adult>; give [bold]its folder[/] as --data")


def defect(*arguments):
    raise ZeroDivisionError("of ours")


def draw(table, note):
    figure = new_figure("A figure", note)
    figure.subplots().plot(table["error"])
    return figure


def tabulate(table):
    return pd.DataFrame({"a & b": table["method"], "error": ["0.100 ± 0.2", None]})


def claim(verdict, text="A claim."):
    details = Details(("data set", "ratio"), (("a|b", "0.50 (0.4 to 0.6)"), ("verdict", "holds")))
    return lambda table: [Finding(text, verdict, f"{len(table)} rows", details)]


FAKES = {
    exhibit.name: exhibit
    for exhibit in (
        Exhibit(
            "first",
            f"First {SPECIAL}",
            SPECIAL,
            compute,
            draw,
            tabulate,
            findings=claim("holds", SPECIAL),
            source="Figure 1",
        ),
        Exhibit("offline", "No network", "Shows data.", no_network, draw),
        Exhibit("empty", "No rows", "Shows nothing.", lambda context: TABLE[:0], draw),
        Exhibit("broken", "A defect", "Shows a defect.", compute, draw, findings=defect),
        Exhibit("last", "Last", "Shows a table.", compute, findings=claim("does not hold"), source="Table 2"),
    )
}
