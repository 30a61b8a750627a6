"""Statements: bindings, loops, try, with, match, definitions."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Constant, Module, Tensor, UnknownValue
from devlint.placement.domain.events import Created, DeviceMismatch, Fate, Moved, Returned, Stored
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import clashes, device, events, events_of, place, returned, stored


def test_statements_are_walked_in_their_order() -> None:
    program = """
    def f(x: torch.Tensor):
        a = torch.ones(1)
        b = a.to(x.device)
        return b
    """
    kinds = [type(event) for event in events(program) if isinstance(event, (Created, Moved, Returned))]
    assert kinds == [Created, Moved, Returned]


def test_an_augmented_assignment_is_an_operation_in_place() -> None:
    program = """
    def f(x: torch.Tensor):
        loss = torch.tensor(0.0)
        loss += x
    """
    assert [code_of(event.node) for event in events_of(DeviceMismatch, program)] == ["loss += x"]


def test_adding_a_zero_dim_cpu_tensor_in_place_is_legal() -> None:
    program = """
    def f(x: torch.Tensor):
        x += torch.tensor(0.0)
    """
    assert clashes(program) == []


def test_a_call_that_is_a_statement_discards_its_result() -> None:
    program = """
    def f(x: torch.Tensor):
        x.cuda()
        y = x.cuda()
        _ = x.cuda()
        unread = x.cuda()
        return y
    """
    assert [event.fate for event in events_of(Moved, program)] == [Fate.DISCARDED, Fate.USED, Fate.USED, Fate.UNREAD]


def test_nothing_happens_after_return_raise_break_or_continue() -> None:
    program = """
    def f(x: torch.Tensor):
        for item in range(3):
            break
            torch.ones(1)
        for item in range(3):
            continue
            torch.ones(2)
        if x.any():
            raise ValueError(torch.ones(3))
            torch.ones(4)
        return x
        torch.ones(5)
    """
    assert [code_of(event.node) for event in events_of(Created, program)] == ["torch.ones(3)"]


def test_a_bare_return_gives_none() -> None:
    program = """
    def f():
        return
    """
    assert returned(program) == [Constant(None)]


def test_raise_without_an_exception_leaves_too() -> None:
    program = """
    def f(x: torch.Tensor):
        try:
            y = x.numpy()
        except TypeError:
            raise
        return x
    """
    assert len(returned(program)) == 1


def test_a_handler_sees_the_state_before_and_after_the_body() -> None:
    program = """
    def f():
        y = torch.ones(3)
        try:
            y = y.cuda()
        except RuntimeError as error:
            seen = y
            kept = error
        z = y
    """
    assert device(program, "seen") == "an unknown device"
    assert device(program, "z") == "an unknown device if RuntimeError is raised else cuda"
    assert stored(program, "kept") == UnknownValue()


def test_what_a_handler_puts_in_place_is_there_where_an_exception_is_raised() -> None:
    program = """
    def f(x: torch.Tensor):
        try:
            y = torch.linalg.pinv(x)
        except torch.linalg.LinAlgError:
            y = torch.ones(3)
        except:
            y = torch.ones(3).cuda()
        z = y
    """
    assert device(program, "z") == "cuda, cpu or the device of `x`"


def test_a_handler_that_leaves_has_no_part_in_what_follows() -> None:
    program = """
    def f():
        y = torch.ones(3)
        try:
            y = y.cuda()
        except (RuntimeError, AssertionError):
            raise
        else:
            ran = y
        finally:
            last = y
        z = y
    """
    assert device(program, "z") == "cuda"
    assert device(program, "ran") == "cuda"
    assert device(program, "last") == "cuda"


def test_finally_runs_even_where_nothing_gets_past_it() -> None:
    program = """
    def f(x: torch.Tensor):
        try:
            return x
        finally:
            x + torch.ones(3)
        y = x
    """
    assert clashes(program) == ["x + torch.ones(3)"]
    assert [event for event in events_of(Stored, program) if event.target == "y"] == []


def test_a_bare_handler_and_exception_groups_are_walked() -> None:
    program = """
    def f(x: torch.Tensor):
        try:
            x = x * 2
        except:
            x + torch.ones(1)
        try:
            x = x * 2
        except* ValueError:
            x + torch.ones(2)
    """
    assert clashes(program) == ["x + torch.ones(1)", "x + torch.ones(2)"]


def test_each_case_of_a_match_starts_from_the_same_state() -> None:
    program = """
    def f(x: torch.Tensor, kind):
        y = torch.ones(3)
        match kind:
            case "cuda":
                y = y.cuda()
                first = y
            case {"w": w, **rest} if x.any():
                second = y
            case [head, *tail]:
                y = head
            case Point(x=0) as point:
                third = point
        z = y
    """
    assert device(program, "first") == "cuda"
    assert device(program, "second") == "cpu"
    assert stored(program, "third") == UnknownValue()
    assert device(program, "z") == "an unknown device"


def test_a_match_whose_cases_agree_is_certain() -> None:
    program = """
    def f(x: torch.Tensor, kind):
        match kind:
            case 1:
                y = torch.ones(3)
            case _:
                y = torch.ones(4)
        return x + y
    """
    assert clashes(program) == ["x + y"]


def test_a_name_that_a_pattern_binds_is_no_longer_what_it_was() -> None:
    program = """
    def f(x: torch.Tensor, kind):
        y = torch.ones(3)
        match kind:
            case y:
                return x + y
    """
    assert clashes(program) == []


def test_an_import_inside_a_definition_shadows_the_local_name() -> None:
    program = """
    def f(x: torch.Tensor):
        ones = torch.ones(3)
        from torch import ones
        y = ones(3)
    """
    assert device(program) == "cpu"


def test_a_nested_definition_sees_what_is_around_it() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        def inner(z):
            return x + w
        return inner
    """
    assert clashes(program) == ["x + w"]


def test_an_async_definition_is_walked_like_any_other() -> None:
    program = """
    async def f(x: torch.Tensor, queue):
        async with queue.lock() as lock:
            async for item in queue:
                y = x + torch.ones(3)
        await queue.put(x + torch.zeros(3))
        result = await queue.get()
        return result
    """
    assert clashes(program) == ["x + torch.ones(3)", "x + torch.zeros(3)"]


def test_a_decorator_that_may_change_the_result_hides_the_function() -> None:
    program = """
    @{decorator}
    def make():
        return torch.ones(3)

    def f(x: torch.Tensor):
        y = make()
        return x + y
    """
    assert clashes(program.format(decorator="torch.no_grad()")) == ["x + y"]
    assert clashes(program.format(decorator="moved_to('cuda')")) == []


def test_a_class_inside_a_function_sees_its_names() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        class Inner:
            def run(self):
                return x + w
        return Inner()
    """
    assert clashes(program) == ["x + w"]


def test_statements_of_one_line_are_walked_one_by_one() -> None:
    program = """
    def f(x: torch.Tensor): y = torch.ones(3); return x + y
    """
    assert clashes(program) == ["x + y"]


def test_a_module_is_moved_in_place_under_the_name_it_has() -> None:
    program = """
    def f():
        model = nn.Linear(3, 3)
        model.cuda()
        moved = model
    """
    moved = stored(program, "moved")
    assert isinstance(moved, Module)
    assert place(moved) == "cuda"


def test_a_tensor_is_not_moved_by_a_statement() -> None:
    program = """
    def f():
        t = torch.ones(3)
        t.cuda()
        kept = t
    """
    kept = stored(program, "kept")
    assert isinstance(kept, Tensor)
    assert place(kept) == "cpu"


def test_a_name_that_a_nested_definition_rebinds_is_unknown_from_there_on() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        early = x + w
        def move():
            nonlocal w
            w = w.to(x.device)
        move()
        return x + w
    """
    assert clashes(program) == ["x + w"]
    assert len(clashes(program.replace("early = x + w", "pass"))) == 0


@pytest.mark.parametrize(("last", "expected"), [("_", "cuda"), ("other", "cuda"), ("2", "an unknown device")])
def test_a_last_case_that_takes_all_leaves_nothing_of_the_state_before(last: str, expected: str) -> None:
    program = f"""
    def f(kind):
        y = torch.ones(3)
        match kind:
            case 1:
                y = y.cuda()
            case {last}:
                y = y.cuda()
        z = y
    """
    assert device(program, "z") == expected
