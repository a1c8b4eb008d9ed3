"""The studies run."""

import pytest

from sharpley_experiments.studies import active, coverage, design_error, designs, gp_time, overhead


@pytest.mark.slow
def test_studies_run(tmp_path):
    """Run every study at its smallest, so that it cannot break unnoticed."""

    design_error.main(["--quick", "--out", str(tmp_path)])
    assert "| make_regression | 10 | 100 | " in (tmp_path / "design_error.md").read_text()
    designs.main(["--quick", "--out", str(tmp_path)])
    assert "| 3 | 2 | " in (tmp_path / "design_bounds.md").read_text()
    assert "| paired | " in (tmp_path / "design_variants.md").read_text()

    overhead.main(["--quick", "--out", str(tmp_path / "overhead.md")])
    assert "| shap Permutation | 8 |" in (tmp_path / "overhead.md").read_text()
    active.main(["--quick", "--out", str(tmp_path / "active.md")])
    assert "| make_regression | 10 |" in (tmp_path / "active.md").read_text()
    gp_time.main(["--quick"])
    coverage.main(["--quick", "--out", str(tmp_path / "coverage.md")])
    assert "| antithetic | " in (tmp_path / "coverage.md").read_text()
