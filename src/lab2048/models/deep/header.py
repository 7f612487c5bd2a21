"""The header of a deep network's file, read without torch and without the weights."""

import json
import math
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, LabError
from lab2048.models.deep.design import DeepDesign
from lab2048.models.ntuple.file import DEEP, open_tensors
from lab2048.models.training_facts import check_facts
from lab2048.records.input_file import parse_json

FORMAT = 1


def write_deep_header(design: DeepDesign, facts: dict[str, Any]) -> dict[str, str]:
    """Return the metadata of a file: architecture and training facts."""
    return {DEEP: json.dumps({"format": FORMAT, "design": design.to_json(), "facts": facts})}


def read_deep_header(path: Path) -> tuple[DeepDesign, dict[str, Any]]:
    """Read the architecture and training facts of a file; raise FileError if they are invalid."""
    with open_tensors(path) as file:
        metadata = file.metadata() or {}
    try:
        about = parse_json(metadata[DEEP])
        if about["format"] != FORMAT:
            raise FileError(
                f"{path} has format {str(about['format'])[:40]}: expected {FORMAT}; "
                "another version of lab2048 wrote it",
                code="file.version",
            )
        return DeepDesign.from_json(about["design"]), check_facts(about["facts"])
    except FileError:
        raise
    except (ValueError, LabError) as error:
        raise FileError(f"{path} is not a deep network: {error}") from None
    except (KeyError, TypeError, AttributeError):
        expected = "expected a file of lab2048 train afterstate, c51, dqn, returns or distil"
        raise FileError(f"{path} is not a deep network: {expected}") from None


def describe_deep(path: Path) -> dict[str, Any]:
    """Return facts about the network of a file."""
    design, facts = read_deep_header(path)
    return {
        "board": design.rules.board.to_text(),
        "kind": design.kind,
        "head": design.head,
        "widths": list(design.widths),
        "reading": design.reading,
        "n_weights": sum(math.prod(shape) for shape in design.shapes().values()),
        "bytes": path.stat().st_size,
        "training": facts.get("training"),
    }
