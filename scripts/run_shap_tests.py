"""Run shap's own tests of its explainers against Sharpley's explainers with the same interface.

Usage: ``python scripts/run_shap_tests.py [--sdist FILE] [--data FOLDER] [--plain] [--only NAME ...] [--out F]``

The source distribution of the installed shap, which has its tests, is downloaded by pip unless it is given. Some tests
fetch data sets from GitHub; FOLDER is a copy of the folder ``data`` of shap's repository for machines that cannot. With
``--plain``, shap's explainers are tested themselves, to see what fails for other reasons.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import shap

FILES = ("permutation", "kernel", "sampling", "exact")
NAMES = ("PermutationExplainer", "KernelExplainer", "SamplingExplainer", "ExactExplainer")
WHY = {
    "test_exact.py::test_interactions": "asks for interaction values, which these explainers do not compute",
    "test_kernel.py::test_kernel_shap_with_high_dim_sparse": "fetches the 20 newsgroups data from the internet",
    "test_kernel.py::test_kernel_explainer_with_tensors": "needs TensorFlow",
}


class Outcomes:
    """A plugin of pytest that keeps the outcome of each test, and the last line of what went wrong."""

    def __init__(self) -> None:
        self.of: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of a test, or of a setup that did not pass."""
        if report.when == "call" or not report.passed:
            lines = str(report.longrepr or "").strip().splitlines()
            self.of[report.nodeid.split("/")[-1]] = (report.outcome, lines[-1] if lines else "")


def unpack(sdist: Path | None, folder: Path) -> Path:
    """Unpack the source distribution of the installed shap, downloading it if necessary, and return its folder."""
    if sdist is None:
        wanted = f"shap=={shap.__version__}"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "shap", wanted]
        subprocess.run([*command, "-d", str(folder)], check=True)
        sdist = next(folder.glob("shap-*.tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir() and path.name.startswith("shap-"))


def replace_explainers() -> None:
    """Put Sharpley's explainers in the places of shap's."""
    import sharpley.adapters.shap as ours

    for name in NAMES:
        setattr(shap, name, getattr(ours, name))
        setattr(shap.explainers, name, getattr(ours, name))


def read_data_from(folder: Path) -> None:
    """Let shap's data sets be read from a folder instead of the internet."""
    import shap.datasets

    shap.datasets.cache = lambda url, file_name=None: str(folder / (file_name or url.rsplit("/", 1)[-1]))


def table(outcomes: dict[str, tuple[str, str]], files: list[str]) -> str:
    """Return the outcomes as a Markdown table: a line for each file, then one for each test that did not pass."""
    lines = ["| shap's tests | passed | failed | skipped |", "|---|--:|--:|--:|"]
    for name in files:
        of_file = Counter(outcome for node, (outcome, _) in outcomes.items() if node.startswith(f"test_{name}.py"))
        lines.append(f"| `test_{name}.py` | {of_file['passed']} | {of_file['failed']} | {of_file['skipped']} |")
    missed = {node: found for node, found in outcomes.items() if found[0] != "passed"}
    if missed:
        lines += ["", "| test | outcome | why |", "|---|---|---|"]
    for node, (outcome, message) in missed.items():
        lines.append(f"| `{node}` | {outcome} | {WHY.get(node, message.replace('|', '/'))} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the tests, print and save the table; exit code 1 if a test fails without a known reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sdist", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--only", choices=FILES, nargs="+", default=list(FILES))
    options = parser.parse_args()
    for name in ("sdist", "data", "out"):
        given = getattr(options, name)
        setattr(options, name, None if given is None else given.resolve())
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as place:
        tests = unpack(options.sdist, Path(place)) / "tests"
        if not options.plain:
            replace_explainers()
        if options.data is not None:
            read_data_from(options.data)
        os.chdir(tests.parent.parent)  # shap's own folder has a package shap that is not compiled
        files = [str(tests / "explainers" / f"test_{name}.py") for name in options.only]
        flags = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={tests}", "--import-mode=importlib"]
        pytest.main([*flags, *files], plugins=[outcomes])
    found = table(outcomes.of, options.only)
    print(found)
    if options.out is not None:
        options.out.write_text(found, encoding="utf-8")
    return int(any(outcome == "failed" and node not in WHY for node, (outcome, _) in outcomes.of.items()))


if __name__ == "__main__":
    raise SystemExit(main())
