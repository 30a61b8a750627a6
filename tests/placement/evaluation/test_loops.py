"""Loops: walked twice, told once."""

from __future__ import annotations

from tests.placement.walked import clashes, device


def test_a_loop_body_is_told_once() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        for _ in range(n):
            for _ in range(n):
                x = x + torch.ones(3)
    """
    assert clashes(program) == ["x + torch.ones(3)"]


def test_what_a_loop_left_meets_what_it_begins_with() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        total = torch.zeros(3)
        for _ in range(n):
            total = total + x
    """
    assert clashes(program) == ["total + x"]


def test_a_value_moved_by_the_body_is_a_choice_of_the_iteration() -> None:
    program = """
    def f(n: int):
        w = torch.zeros(3)
        for _ in range(n):
            seen = w
            w = w.cuda()
    """
    assert device(program, "seen") == "cpu if this is the first iteration else cuda"
    assert device(program, "w") == "cuda"


def test_a_zero_dim_sum_over_a_loop_is_legal() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        loss = torch.tensor(0.0)
        for _ in range(n):
            loss = loss + x.mean()
        return loss
    """
    assert clashes(program) == []


def test_a_break_carries_its_state_out_of_the_loop() -> None:
    program = """
    def f(n: int):
        w = torch.zeros(3)
        for i in range(n):
            w = w.cuda()
            break
        else:
            v = w
        z = w
    """
    assert device(program, "z") == "cuda"


def test_continue_joins_the_end_of_the_body() -> None:
    program = """
    def f(n: int, flag: bool):
        w = torch.zeros(3)
        for i in range(n):
            if flag:
                w = torch.zeros(3, device="cuda")
                continue
            w = torch.zeros(3, device="cuda")
        z = w
    """
    assert device(program, "z") == "cuda"


def test_a_while_loop_tests_before_its_body_each_time() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.zeros(3)
        while (x + w).any():
            w = w.to(x.device)
        else:
            z = w
    """
    assert clashes(program) == ["(x + w)"]
    assert device(program, "z") == "the device of `x`"


def test_a_move_at_the_end_of_a_loop_comes_too_late_for_its_first_iteration() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        w = torch.zeros(3)
        for _ in range(n):
            {body}
    """
    assert clashes(program.format(body="y = x + w; w = w.to(x.device)")) == ["x + w"]
    assert clashes(program.format(body="w = w.to(x.device); y = x + w")) == []


def test_a_loop_whose_body_always_leaves_keeps_the_state_before_it() -> None:
    program = """
    def f(n: int):
        w = torch.zeros(3)
        for i in range(n):
            return w
        z = w
    """
    assert device(program, "z") == "cpu"
