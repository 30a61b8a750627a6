"""The patterns of ``match``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

from devlint.source.bare.expressions import expression
from devlint.source.bare.nodes import NeedsLayout, maker, name, optional_name

_value = maker(cst.MatchValue, "value")
_singleton = maker(cst.MatchSingleton, "value")
_list = maker(cst.MatchList, "patterns")
_element = maker(cst.MatchSequenceElement, "value")
_star = maker(cst.MatchStar, "name")
_mapping = maker(cst.MatchMapping, "elements", "rest", "trailing_comma")
_mapping_element = maker(cst.MatchMappingElement, "key", "pattern")
_class = maker(cst.MatchClass, "cls", "patterns", "kwds")
_keyword = maker(cst.MatchKeywordElement, "key", "pattern")
_as = maker(cst.MatchAs, "pattern", "name")
_or = maker(cst.MatchOr, "patterns")
_or_element = maker(cst.MatchOrElement, "pattern", "separator")


def pattern(node: ast.AST) -> cst.CSTNode:
    """The bare node of a pattern; raises :class:`NeedsLayout` for a kind that is not known here."""
    convert = _PATTERNS.get(type(node))
    if convert is None:
        raise NeedsLayout(type(node).__name__)
    return convert(node)


def _sequence(node: ast.MatchSequence) -> cst.MatchList:
    return _list([pattern(one) if isinstance(one, ast.MatchStar) else _element(pattern(one)) for one in node.patterns])


def _mapped(node: ast.MatchMapping) -> cst.MatchMapping:
    pairs = zip(node.keys, node.patterns, strict=True)
    elements = [_mapping_element(expression(key), pattern(one)) for key, one in pairs]
    return _mapping(elements, optional_name(node.rest), None)


def _instance(node: ast.MatchClass) -> cst.MatchClass:
    pairs = zip(node.kwd_attrs, node.kwd_patterns, strict=True)
    keywords = [_keyword(name(key), pattern(one)) for key, one in pairs]
    return _class(expression(node.cls), [_element(pattern(one)) for one in node.patterns], keywords)


def _named(node: ast.MatchAs) -> cst.MatchAs:
    return _as(None if node.pattern is None else pattern(node.pattern), optional_name(node.name))


_PATTERNS: dict[type, Callable[[Any], cst.CSTNode]] = {
    ast.MatchValue: lambda node: _value(expression(node.value)),
    ast.MatchSingleton: lambda node: _singleton(name(str(node.value))),
    ast.MatchSequence: _sequence,
    ast.MatchStar: lambda node: _star(optional_name(node.name)),
    ast.MatchMapping: _mapped,
    ast.MatchClass: _instance,
    ast.MatchAs: _named,
    ast.MatchOr: lambda node: _or([_or_element(pattern(one), None) for one in node.patterns]),
}
