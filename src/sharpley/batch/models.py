"""Models in files: what is loaded by which library, and what is never loaded without being asked to.

A model is read as bytes, which are loaded where rows are explained, in this process, in another one or on another
machine. Files of models are strangers' files: none is unpickled unless it is trusted, since unpickling runs whatever
code its author put into it, and skops loads only types that are known to be harmless, or that were named. Files that
compiled code reads are first tried in a process of their own, with limits of memory and time: a damaged one can crash a
process, and one that claims 2^31 features makes XGBoost ask for 23 GB.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpley._support.reading import first_line
from sharpley.games.marginal.calls import find_call

TRY = "from sharpley.batch.models import try_model; try_model()"
TRY_SECONDS = 300.0  # for loading a model and predicting the first background rows
TRY_MEMORY, TRY_MEMORY_PER_CORE, TRY_MEMORY_PER_BYTE = 2**32, 2**27, 40
"""Bytes that the trial may take: in all, for the stack and heap of each core's thread, and for each byte of the file.

XGBoost takes 1.2 GB of addresses to load any model, and 12 bytes for each byte of a JSON file.
"""
FAILED = 3  # exit code of a trial that ended with an error, which it printed
LARGEST_EXIT = 255  # what Windows returns for a crash is larger
OF_MODULE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class ModelSource:
    """A model that has not been loaded.

    Parameters
    ----------
    name : str
        The name of the file, or "module:function".
    content : bytes or None
        What is in the file; None for a function, which is imported.
    trusted_types : tuple of str
        Types that skops may load in addition to those that it knows.
    folder : str
        Where the module of a function may be, if it is not installed.
    """

    name: str
    content: bytes | None
    trusted_types: tuple[str, ...] = ()
    folder: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the model: of its file or, for a function, of its name and the file of its module."""
        if self.content is not None:
            return hashlib.sha256(self.content).hexdigest()
        module = sys.modules[getattr(self.load(), "__module__", self.name.partition(":")[0])]
        source = getattr(module, "__file__", None)
        code = Path(source).read_bytes() if source else b""
        return hashlib.sha256(self.name.encode() + b"\0" + code).hexdigest()

    def load(self) -> Any:
        """Return the model; a file that cannot be loaded is an error that names it."""
        if self.content is None:
            return _function(self.name, self.folder)
        try:
            return LOADERS[Path(self.name).suffix.lower()](self)
        except (ImportError, UntrustedTypesError):
            raise
        except Exception as error:  # a damaged file fails in many ways, each library in its own
            said = first_line(error).partition(" Stack trace:")[0]  # of XGBoost
            raise ValueError(f"{self.name} could not be loaded as a model: {said[:300]}") from error

    def check(self, rows: Any, id_column: str | None) -> None:
        """Load the model of a file and call it on rows, in a process of its own with limits of memory and time."""
        if self.content is None or LOADERS[Path(self.name).suffix.lower()] not in NATIVE:
            return
        sent = pickle.dumps((self, rows, id_column, self.memory_of_trial))
        command = [sys.executable, "-P", "-c", TRY]  # -P: no modules from the current folder
        try:
            tried = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=TRY_SECONDS)
        except subprocess.TimeoutExpired:
            raise ValueError(
                f"{self.name} was given up: loading it and predicting {len(rows)} rows took more than "
                f"{TRY_SECONDS:.0f} s. If you trust it, load it by a function of your own: --model module:function"
            ) from None
        *_, last_line = ["", *tried.stderr.decode(errors="replace").splitlines()]
        if tried.returncode < 0 or tried.returncode > LARGEST_EXIT:
            raise ValueError(f"{self.name} is damaged: the process that tried to use it crashed")
        if tried.returncode == FAILED:
            raise ValueError(last_line)
        if tried.returncode:
            raise OSError(f"{self.name} could not be tried in a process of its own: {last_line}")

    @property
    def memory_of_trial(self) -> int:
        """Bytes that loading and calling the model may take."""
        return TRY_MEMORY + TRY_MEMORY_PER_CORE * (os.cpu_count() or 1) + TRY_MEMORY_PER_BYTE * len(self.content or b"")


class UntrustedTypesError(ValueError):
    """A file of skops has types that are not known to be harmless."""


def find(given: str, *, trust_pickle: bool = False, trusted_types: Sequence[str] = ()) -> ModelSource:
    """Return the model in a file, or a function of a module."""
    path = Path(given)
    if not path.exists() and OF_MODULE.fullmatch(given):
        return ModelSource(given, None, folder=os.getcwd())
    suffix = path.suffix.lower()
    if suffix not in LOADERS:
        raise ValueError(
            f"{given} is not a model: expected module:function, or a file whose name ends in {', '.join(LOADERS)}"
        )
    if LOADERS[suffix] is _pickle and not trust_pickle:
        raise ValueError(
            f"{given} is a pickle, which can run any code when it is loaded; add --trust-pickle if you know who made "
            "it, or save the model in a format of its library, or by skops"
        )
    return ModelSource(path.name, path.read_bytes(), tuple(trusted_types))


def try_model() -> None:
    """Load the model and call it on the rows that ``ModelSource.check`` sent; an error is printed in one line."""
    source, rows, id_column, memory = pickle.load(sys.stdin.buffer)
    _limit_memory(memory)
    try:
        model = source.load()
        chosen = rows[columns(model, list(rows.columns), id_column)]
        call = find_call(model, labels=True).function  # whether labels are meant, the explainer checks
        try:
            call(chosen)
        except Exception as error:
            said = first_line(error).partition(" Stack trace:")[0]
            raise ValueError(
                f"{source.name} failed on {len(rows)} rows of the background, in a process with {memory / 1e9:.1f} GB "
                f"of memory: {said[:300]}"
            ) from error
    except Exception as error:
        print(first_line(error), file=sys.stderr)
        sys.exit(FAILED)


def _limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has now; only Linux tells how many it has."""
    with suppress(ImportError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def columns(model: Any, present: list[str], id_column: str | None) -> list[str]:
    """Return the columns to explain: those that the model was fitted on, in its order, or all but the ids of rows.

    LightGBM has underscores in place of spaces.
    """
    named = feature_names(model)
    if named is None:
        return [name for name in present if name != id_column]
    by_name = {"_".join(name.split(" ")): name for name in present} | {name: name for name in present}
    unknown = [name for name in named if name not in by_name]
    if unknown:
        raise ValueError(f"the model was fitted on columns {unknown}, which the background does not have")
    return [by_name[name] for name in named]


def feature_names(model: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted on, in its order; None if it does not tell."""
    for name in ("feature_names_in_", "feature_names_", "feature_name", "feature_names"):
        found = getattr(model, name, None)
        names = found() if callable(found) else found
        if names is not None and len(names) and not all(_is_numbered(name) for name in names):
            return [str(name) for name in names]
    inputs = model.get_inputs() if hasattr(model, "get_inputs") else []  # of ONNX: one table, or single columns
    return [each.name for each in inputs] if len(inputs) > 1 else None


def _is_numbered(name: Any) -> bool:
    """Return whether a library made a name up for a column that had none."""
    return re.fullmatch(r"(Column_|f)?\d+", str(name)) is not None


def _function(name: str, folder: str) -> Any:
    """Import a function, or any other model, from a module; those in the given folder are found last."""
    module, _, attribute = name.partition(":")
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"the model {name} cannot be imported: {first_line(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"the module {module} has no {attribute!r}, which the model {name} names")
        found = getattr(found, part)
    return found


def _xgboost(source: ModelSource) -> Any:
    xgboost = _library("xgboost", source)
    booster = xgboost.Booster()
    booster.load_model(bytearray(source.content or b""))
    return booster


def _lightgbm(source: ModelSource) -> Any:
    return _library("lightgbm", source).Booster(model_str=(source.content or b"").decode())


def _catboost(source: ModelSource) -> Any:
    catboost = _library("catboost", source)
    model = catboost.CatBoost().load_model(blob=source.content)
    is_classifier = len(model.classes_) > 0
    made = catboost.CatBoostClassifier() if is_classifier else catboost.CatBoostRegressor()
    return made.load_model(blob=source.content)


def _onnx(source: ModelSource) -> Any:
    """Return a session; from bytes, so that a model cannot refer to other files."""
    return _library("onnxruntime", source).InferenceSession(source.content, providers=["CPUExecutionProvider"])


def _skops(source: ModelSource) -> Any:
    skops = _library("skops.io", source)
    unknown = sorted(set(skops.get_untrusted_types(data=source.content)) - set(source.trusted_types))
    if unknown:
        options = " ".join(f"--trust-type {name}" for name in unknown)
        raise UntrustedTypesError(
            f"{source.name} has types that are not known to be harmless: {', '.join(unknown)}; "
            f"if you trust them, add {options}"
        )
    return skops.loads(source.content, trusted=list(source.trusted_types))


def _pickle(source: ModelSource) -> Any:
    import joblib

    with tempfile.TemporaryFile() as stream:  # joblib reads compressed pickles, and those of pickle, from files only
        stream.write(source.content or b"")
        stream.seek(0)
        return joblib.load(stream)


def _library(name: str, source: ModelSource) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{source.name} needs {package}: pip install {package}") from error


NATIVE = (_xgboost, _lightgbm, _catboost, _onnx)
"""Loaders of files that are read by compiled code."""

LOADERS: dict[str, Callable[[ModelSource], Any]] = {
    ".json": _xgboost,
    ".ubj": _xgboost,
    ".txt": _lightgbm,
    ".cbm": _catboost,
    ".onnx": _onnx,
    ".skops": _skops,
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".joblib": _pickle,
}
"""How models are loaded, by how the names of their files end."""
