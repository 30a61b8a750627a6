"""The tables of libraries: what a row may say, and that a row nobody understands is refused with its file and name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from devlint.placement.calls.library_effects import EFFECTS
from devlint.semantics import library_models, transfer
from devlint.semantics.library_reading import BadRow, read_anywhere, read_library
from devlint.semantics.library_rows import OPTIONS

SOURCE = {"source": "lib/module.py"}


def table(folder: Path, rows: dict[str, Any], **more: Any) -> Path:
    path = folder / "lib.json"
    path.write_text(json.dumps({"library": "lib", "version": "1.0", "rows": rows, **more}))
    return path


def refused(folder: Path, rows: dict[str, Any], **more: Any) -> str:
    with pytest.raises(BadRow) as caught:
        read_library(table(folder, rows, **more))
    return str(caught.value)


def test_every_shipped_table_is_read() -> None:
    libraries = {library.name for library in library_models.all_libraries()}
    assert {"accelerate", "lightning", "transformers", "numpy", "torch"} <= libraries
    assert library_models.anywhere().kinds["LightningModule"] == "lightning"


def test_every_row_names_its_version_and_its_source() -> None:
    files = sorted(library_models.LIBRARIES.glob("*.json"))
    for path in files:
        content = json.loads(path.read_bytes())
        if path.name != "_anywhere.json":
            assert content["version"][0].isdigit(), path.name
        for section in ("rows", "packages", "patterns"):
            for name, row in content.get(section, {}).items():
                assert len(row["source"]) > 4, (path.name, name)


def test_every_effect_is_interpreted_and_no_other() -> None:
    assert set(EFFECTS) == set(OPTIONS)


def test_unknown_key_of_a_row(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.f": {**SOURCE, "efect": "same"}})
    assert said.startswith('lib.json: lib.f: unknown key "efect"; known are adds_numbers_unless, also, call, ')


def test_unknown_effect(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.f": {**SOURCE, "call": "teleports"}})
    assert said.startswith('lib.json: lib.f: no effect "teleports"; there are batches, beside, call, ')


def test_unknown_effect_of_a_method(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.C": {**SOURCE, "methods": {"prepare setup": "teleports"}}})
    assert said.startswith('lib.json: lib.C.prepare: no effect "teleports"')


def test_option_that_the_effect_does_not_take(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.f": {**SOURCE, "call": {"effect": "same", "state": True}}})
    assert said == 'lib.json: lib.f: unknown key "state"; known are argument, effect, position'


def test_option_of_another_type(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.M": {**SOURCE, "call": {"effect": "module", "state": "yes"}}})
    assert said == "lib.json: lib.M: \"state\" is 'yes'; it takes true or false"


def test_result_nobody_knows(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.f": {**SOURCE, "call": {"effect": "made", "gives": "tensor picture"}}})
    assert said.startswith('lib.json: lib.f: no gives "picture"')


def test_unknown_kind(tmp_path: Path) -> None:
    assert refused(tmp_path, {"lib.C": {**SOURCE, "kind": "layer"}}).startswith('lib.json: lib.C: no kind "layer"')


def test_row_without_a_source(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.f": {"call": "same"}})
    assert said == 'lib.json: lib.f: "source" is missing: the module of the library that says so'


def test_table_without_a_version(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"
    path.write_text('{"library": "lib", "rows": {}}')
    with pytest.raises(BadRow, match=r'^lib\.json: "version" is missing'):
        read_library(path)


def test_unknown_key_of_a_table(tmp_path: Path) -> None:
    assert refused(tmp_path, {}, row={}).startswith('lib.json: unknown key "row"')


def test_name_in_two_rows(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.f": SOURCE, "lib.g": {**SOURCE, "also": ["lib.f"]}})
    assert said == "lib.json: lib.f: stands in two rows"


def test_list_that_is_a_string(tmp_path: Path) -> None:
    said = refused(tmp_path, {"lib.C": {**SOURCE, "fields": "x y"}})
    assert said == 'lib.json: lib.C: "fields" is a list of names'


def test_row_that_is_a_string(tmp_path: Path) -> None:
    assert refused(tmp_path, {"lib.f": "lib.g"}) == "lib.json: lib.f: a row is an object"


def test_transfer_nobody_knows(tmp_path: Path) -> None:
    moves = [{"methods": ["to"], "effect": "sideways", "discard_is_bug": True}]
    assert refused(tmp_path, {"lib.C": {**SOURCE, "moves": moves}}).startswith('lib.json: lib.C: no moves "sideways"')


def test_pattern_that_is_none(tmp_path: Path) -> None:
    assert refused(tmp_path, {}, patterns={"lib.(": SOURCE}).startswith("lib.json: lib.(: ")


def test_key_of_an_operation_nobody_reads(tmp_path: Path) -> None:
    call = {"effect": "meets", "operation": {"parameters": "a b", "rules": "exact_same"}}
    said = refused(tmp_path, {"lib.f": {**SOURCE, "call": call}})
    assert said.startswith('lib.json: lib.f: operation: unknown key "rules"')


def test_file_that_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"
    path.write_text('{"library": ')
    with pytest.raises(BadRow, match=r"^lib\.json: Expecting value"):
        read_library(path)


def test_names_of_no_library_are_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "_anywhere.json"
    content = json.loads((library_models.LIBRARIES / "_anywhere.json").read_bytes())
    content["kinds"]["layer"] = ["Layer"]
    path.write_text(json.dumps(content))
    with pytest.raises(BadRow, match='no kind "layer"'):
        read_anywhere(path)


def test_a_row_is_found_under_each_of_its_names() -> None:
    row = library_models.row("accelerate.accelerator.Accelerator")
    assert row is not None
    assert row is library_models.row("accelerate.Accelerator")
    assert row.name == "accelerate.Accelerator"


def test_a_mirror_has_the_names_of_the_other() -> None:
    assert library_models.row("pytorch_lightning.LightningModule") is library_models.row("lightning.LightningModule")
    assert library_models.kind("pytorch_lightning.core.LightningModule") == "lightning"


def test_a_name_is_in_the_innermost_package_that_is_known() -> None:
    assert library_models.kind("torch.nn.Linear") == "module"
    assert library_models.kind("torch.optim.lr_scheduler.StepLR") == "optimizer"
    assert library_models.kind("torch.utils.data.Dataset") == "host"
    assert library_models.package("numpy") is None
    found = library_models.package("numpy.linalg.norm")
    assert found is not None
    assert found.effect is not None
    assert found.effect.name == "host"


@pytest.mark.parametrize("name", ["AutoModel", "AutoModelForCausalLM", "BertModel", "models.bert.BertForMaskedLM"])
def test_a_pretrained_model_is_known_by_its_name(name: str) -> None:
    found = library_models.effect(f"transformers.{name}.from_pretrained")
    assert found is not None
    assert found.name == "module"


@pytest.mark.parametrize("name", ["AutoTokenizer", "BertTokenizer", "AutoConfig", "CLIPProcessor", "Format"])
def test_what_is_loaded_the_same_way_and_is_no_model(name: str) -> None:
    assert library_models.effect(f"transformers.{name}.from_pretrained") is None


@pytest.mark.parametrize("name", ["Base", "pkg.layers.Base", "collections.environ", ""])
def test_nothing_is_known_of_other_names(name: str) -> None:
    assert library_models.row(name) is None
    assert library_models.package(name) is None
    assert library_models.kind(name) is None


@pytest.mark.parametrize("name", ["open", "type", "random.random", "functools.cmp_to_key"])
def test_functions_of_python_have_rows(name: str) -> None:
    found = library_models.effect(name)
    assert found is not None
    assert found.name == "plain"


@pytest.mark.parametrize("name", ["os.path.join", "re.compile", "time.time", "pathlib.Path"])
def test_modules_of_python_have_rows_for_all_their_names(name: str) -> None:
    found = library_models.package(name)
    assert found is not None
    assert found.effect is not None
    assert found.effect.name == "plain"


@pytest.mark.parametrize(
    "name", ["random.choice", "functools.partial", "copy.copy", "itertools.chain", "openai.OpenAI"]
)
def test_functions_of_python_that_give_what_they_are_given_have_none(name: str) -> None:
    assert library_models.effect(name) is None
    assert library_models.package(name) is None


def test_transfers_of_a_library_are_in_its_table() -> None:
    found = transfer("tensordict.TensorDict", "to")
    assert found is not None
    assert (found.effect, found.discard_is_bug) == ("new_or_self", True)
    assert transfer("tensordict.TensorDict", "apply") is None
