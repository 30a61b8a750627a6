"""The table from node type to transfer function, for expressions and statements."""

from __future__ import annotations

import libcst as cst

from devlint.placement.calls import attributes, dispatch
from devlint.placement.evaluation import (
    comparisons,
    comprehensions,
    expressions,
    nested_definitions,
    statements,
    subscript_reads,
)
from devlint.placement.interpreter.interpreter import Handlers

HANDLERS = Handlers(
    expressions={
        cst.Attribute: attributes.attribute,
        cst.Await: expressions.awaited,
        cst.BinaryOperation: expressions.binary,
        cst.BooleanOperation: expressions.boolean,
        cst.Call: dispatch.call,
        cst.Comparison: comparisons.comparison,
        cst.ConcatenatedString: expressions.concatenated,
        cst.Dict: expressions.dictionary,
        cst.DictComp: comprehensions.dict_comprehension,
        cst.Ellipsis: expressions.other_literal,
        cst.Float: expressions.constant,
        cst.FormattedString: expressions.formatted,
        cst.GeneratorExp: comprehensions.comprehension,
        cst.IfExp: expressions.conditional,
        cst.Imaginary: expressions.other_literal,
        cst.Integer: expressions.constant,
        cst.Lambda: expressions.anonymous,
        cst.List: expressions.sequence,
        cst.ListComp: comprehensions.comprehension,
        cst.Name: expressions.name,
        cst.NamedExpr: expressions.walrus,
        cst.Set: expressions.sequence,
        cst.SetComp: comprehensions.comprehension,
        cst.SimpleString: expressions.constant,
        cst.Subscript: subscript_reads.subscript,
        cst.Tuple: expressions.sequence,
        cst.UnaryOperation: expressions.unary,
        cst.Yield: expressions.yielded,
    },
    statements={
        cst.AnnAssign: statements.annotated_assignment,
        cst.Assert: statements.assert_statement,
        cst.Assign: statements.assignment,
        cst.AugAssign: statements.augmented_assignment,
        cst.Break: statements.break_statement,
        cst.ClassDef: nested_definitions.class_definition,
        cst.Continue: statements.continue_statement,
        cst.Del: statements.del_statement,
        cst.Expr: statements.expression_statement,
        cst.For: statements.for_statement,
        cst.FunctionDef: nested_definitions.function_definition,
        cst.Global: statements.global_statement,
        cst.If: statements.if_statement,
        cst.Import: statements.import_statement,
        cst.ImportFrom: statements.import_statement,
        cst.Match: statements.match_statement,
        cst.Nonlocal: statements.global_statement,
        cst.Raise: statements.raise_statement,
        cst.Return: statements.return_statement,
        cst.Try: statements.try_statement,
        cst.TryStar: statements.try_statement,
        cst.While: statements.while_statement,
        cst.With: statements.with_statement,
    },
    call_value=dispatch.call_value,
)
