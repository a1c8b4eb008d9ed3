"""Models in files: what is loaded by which library, and what is never loaded without being asked to.

A model is read as bytes, which are loaded where rows are explained, in this process, in another one or on another
machine. Files of models are strangers' files: none is unpickled unless it is trusted, since unpickling runs whatever
code its author put into it, and skops loads only types that are known to be harmless, or that were named.
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

    def check(self, rows: Any) -> None:
        """Load and call the model of a file in a process of its own, since a damaged one can end its process."""
        if self.content is None or LOADERS[Path(self.name).suffix.lower()] not in NATIVE:
            return
        sent = pickle.dumps((self, rows))
        tried = subprocess.run(  # -P: no modules from the current folder
            [sys.executable, "-P", "-c", TRY], input=sent, capture_output=True, check=False
        )
        if tried.returncode < 0 or tried.returncode > LARGEST_EXIT:
            raise ValueError(f"{self.name} is damaged: the process that tried to use it crashed")
        if tried.returncode:
            *_, last_line = ["", *tried.stderr.decode(errors="replace").splitlines()]
            raise OSError(f"{self.name} could not be tried in a process of its own: {last_line}")


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
    """Load the model and call it on the rows that ``ModelSource.check`` sent."""
    source, rows = pickle.load(sys.stdin.buffer)
    with suppress(Exception):  # it is raised again, and reported, in the process that asked
        model = source.load()
        find_call(model).function(rows[feature_names(model) or list(rows.columns)])


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
