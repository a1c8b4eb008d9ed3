"""What is known of a method that may be a name, a class, or a ``functools.partial`` of one."""

from __future__ import annotations

from sharpley._support.checks import check_choice
from sharpley.engine.methods import AUTO, METHODS, AnyMethod, MethodRecord
from sharpley.indices import SHAPLEY, Index
from sharpley.samplers import Sampler

NOT_A_METHOD = "method must be a name, or a class of samplers or estimators (or a functools.partial of one), got {!r}"


def check_method(method: AnyMethod) -> None:
    """Raise an error unless ``method`` is a known name or a factory."""
    if isinstance(method, str):
        check_choice("method", method, METHODS)
    elif not callable(method):
        raise TypeError(NOT_A_METHOD.format(method))


def method_name(method: AnyMethod) -> str:
    """Name of a method in results and messages."""
    if isinstance(method, str):
        return method
    factory = getattr(method, "func", method)  # functools.partial
    return str(getattr(factory, "__name__", factory))


def record_of(method: AnyMethod) -> MethodRecord | None:
    """What is known of a method: also of the class of a named method, or of a ``functools.partial`` of it."""
    if isinstance(method, str):
        return METHODS[method]
    factory = getattr(method, "func", method)  # functools.partial
    return next((record for record in METHODS.values() if record.factory is factory), None)


def is_unbiased(method: AnyMethod) -> bool:
    """Whether the mean over a method's random choices is the Shapley value; a sampler's always is."""
    record = record_of(method)
    return is_sampler(method) if record is None else record.is_unbiased


def learns_from_rows(method: AnyMethod) -> bool:
    """Whether the values of a row may depend on the rows explained with it; those of an unknown estimator may."""
    record = record_of(method)
    return not is_sampler(method) if record is None else record.learns_from_rows


def can_own_draws(method: AnyMethod) -> bool:
    """Whether the orderings of a method can have draws of their own; those of a sampler always can."""
    record = record_of(method)
    return is_sampler(method) if record is None else record.can_own_draws


def can_own_coalitions(method: AnyMethod) -> bool:
    """Whether a method can choose coalitions for every draw by itself."""
    record = record_of(method)
    return record is not None and record.own_coalitions is not None


def estimates(method: AnyMethod, index: Index) -> bool:
    """Whether a method estimates an index; a factory of one's own estimates Shapley values."""
    record = record_of(method)
    known = (SHAPLEY.name,) if record is None else record.indices
    return known is None or index.name in known


def check_estimates(method: AnyMethod, index: Index) -> None:
    """Raise an error, which names the methods that do, if a method does not estimate an index."""
    if not estimates(method, index):
        able = [name for name, record in METHODS.items() if estimates(name, index) and record.factory is not None]
        raise ValueError(f"method {method_name(method)!r} does not estimate {index.name!r}; methods that do: {able}")


def is_sampler(method: AnyMethod) -> bool:
    """Whether a method that is no name is a class of samplers, or a ``functools.partial`` of one."""
    factory = getattr(method, "func", method)  # functools.partial
    return isinstance(factory, type) and issubclass(factory, Sampler)
