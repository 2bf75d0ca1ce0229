"""Hashes of protocols never change: those of shipped records, whatever settings are added later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from noveltree.declarations import kind_of, parts_of
from noveltree.learning import LearningSettings
from noveltree.learning.retention import KeepLatest
from noveltree.learning.settings import ValueSettings
from noveltree.learning.value_targets import LambdaReturns, MonteCarlo
from noveltree.protocol import Protocol, make_protocol, parse_protocol
from noveltree.protocol.hashing import FIRST_EDITION, _hashed, edition_key, hash_settings

ROOT = Path(__file__).parent.parent
GOLDEN = json.loads((ROOT / "tests" / "golden" / "hashes.json").read_text())


def shipped() -> Iterator[tuple[str, Any]]:
    """The hashes and protocols of all shipped plans, runs and episodes."""
    for file in sorted((ROOT / "results").rglob("*.json")):
        content = json.loads(file.read_text())
        if file.name == "plan.json":
            yield from content["protocols"].items()
        elif "protocol" in content:
            yield content["protocol_hash"], content["protocol"]


def test_every_shipped_record_has_the_hash_that_it_had() -> None:
    found = dict(shipped())
    assert sorted(found) == sorted(GOLDEN["shipped"])
    for recorded, protocol in found.items():
        assert parse_protocol(protocol).hash == recorded


def test_records_of_every_kind_are_among_them() -> None:
    kinds = {(protocol["agent"], protocol["max_frames"], protocol["budget"]) for _, protocol in shipped()}
    assert {agent for agent, _, _ in kinds} == {"n-cpl", "random", "riw-c", "riw-d", "rtdp"}
    assert len({budget for agent, _, budget in kinds if agent == "riw-c"}) >= 5


def learner(**learning: Any) -> Protocol:
    protocol = parse_protocol(GOLDEN["learner"])
    return protocol.model_copy(update={"learning": LearningSettings(**learning)})


#: One protocol for every model of the first edition that it has settings of.
EXAMPLES = {
    "learning.value.targets=lambda-returns": learner(value=ValueSettings(targets=LambdaReturns())),
    "learning.value.targets=monte-carlo": learner(value=ValueSettings(targets=MonteCarlo())),
    "learning.retention=latest": learner(retention=KeepLatest()),
}


def with_another(settings: BaseModel, place: list[str], **values: Any) -> BaseModel:
    """The same settings, but the model at `place` has a setting more, whose default is 7."""
    if place:
        name, *rest = place
        return settings.model_copy(update={name: with_another(getattr(settings, name), rest, **values)})
    grown = create_model("Grown", __base__=type(settings), added_later=(int, Field(default=7)))
    return grown.model_construct(**dict(settings), **values)


@pytest.mark.parametrize("where", FIRST_EDITION)
def test_a_setting_that_is_added_changes_a_hash_only_if_it_is_not_its_default(where: str) -> None:
    place = [name for name in where.partition("=")[0].split(".") if name]
    protocol = EXAMPLES.get(where, learner())
    assert hash_settings(with_another(protocol, place)) == protocol.hash
    hashes = {hash_settings(with_another(protocol, place, added_later=value)) for value in (6, 8, None)}
    assert len(hashes | {protocol.hash}) == 4


def test_a_part_that_is_added_changes_a_hash_only_if_another_is_chosen() -> None:
    """Two parts with nothing but defaults are told apart by their kinds."""

    class Intervals(BaseModel):
        kind: Literal["intervals"] = "intervals"

    class Lockstep(BaseModel):
        kind: Literal["lockstep"] = "lockstep"
        lanes: int = 8

    class Pretraining(BaseModel):
        kind: Literal["pretraining"] = "pretraining"

    loop = Annotated[Intervals | Lockstep | Pretraining, Field(discriminator="kind")]
    grown = create_model("Grown", __base__=LearningSettings, loop=(loop, Intervals()))

    def hashed(**chosen: Any) -> str:
        return hash_settings(learner().model_copy(update={"learning": grown(**chosen)}))

    assert hashed() == hashed(loop=Intervals()) == learner().hash
    others = {hashed(loop=part) for part in (Lockstep(), Lockstep(lanes=9), Pretraining())}
    assert len(others | {learner().hash}) == 4


def models(model: type[BaseModel] = Protocol, place: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model of settings by its place, as it stands in the first edition."""
    kind = kind_of(model)
    yield edition_key(place, kind), model
    for name, field in model.model_fields.items():
        for part in parts_of(field.annotation):
            yield from models(part, f"{place}.{name}".lstrip("."))


def test_a_setting_of_the_first_edition_is_never_removed_renamed_or_given_another_default() -> None:
    known = dict(models())
    found = {
        place: {
            name: _hashed(
                known[place].model_fields[name].get_default(call_default_factory=True, validated_data={}),
                f"{place.partition('=')[0]}.{name}".lstrip("."),
            )
            for name in names
            if not known[place].model_fields[name].is_required()
        }
        for place, names in FIRST_EDITION.items()
    }
    assert found == GOLDEN["defaults"]


def test_the_first_edition_itself_does_not_change() -> None:
    assert {place: list(names) for place, names in FIRST_EDITION.items()} == GOLDEN["first edition"]


def test_a_setting_of_agents_that_is_added_is_recorded_only_if_it_is_not_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its default is what older records were played with; those have no value at all."""
    before = make_protocol("corridor")
    monkeypatch.setitem(FIRST_EDITION, "", tuple(name for name in FIRST_EDITION[""] if name != "horizon"))
    after, other = make_protocol("corridor"), make_protocol("corridor", horizon=50)
    assert (after.horizon, other.horizon) == (None, 50)
    assert after.settings() == before.settings()
    assert other.settings().horizon == 50
    assert after.hash != other.hash
