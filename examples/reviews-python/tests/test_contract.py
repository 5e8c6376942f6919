"""The files that the platform reads describe this release."""

import subprocess
import sys
from pathlib import Path

CONTRACT = Path(__file__).parent.parent / "contract"


def test_the_generated_files_of_the_contract_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "reviews", "contract", tmp_path], check=True)
    for name in ("schema.graphql", "openapi.yaml"):
        assert CONTRACT.joinpath(name).read_text() == tmp_path.joinpath(name).read_text(), (
            f"run: reviews contract {name}"
        )
