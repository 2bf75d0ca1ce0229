"""What can be chosen about a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from noveltree.declarations import SettingsModel, setting
from noveltree.simulators.levels import Levels
from noveltree.simulators.options import Options
from noveltree.simulators.simulator import Size

#: Of what tiles are observed: of nothing, of screens, or of what is left of them without the background.
TilesOf = bool | Literal["foreground"]
#: What planners know of chance: there is none; what it will bring; nothing but what they draw.
Chance = Literal["none", "foreseen", "sampled"]


def _whole_zero(value: Any) -> Any:
    return 0 if value == 0.0 else value


#: A probability; nothing is 0 and not 0.0, as records have it from when there was nothing else.
StickyActions = Annotated[float, AfterValidator(_whole_zero)]


@dataclass(frozen=True, slots=True)
class Observed:
    """What is to be observed of screens, for simulators that have them."""

    tiles: TilesOf = False
    screen: Size | None = None
    """The size to which observed screens are reduced, if it is not the usual one."""
    small: Size | None = None
    """The size to which they are reduced besides, if they are."""


class SimulatorSettings(SettingsModel):
    """The settings of all simulators; `SimulatorKind.takes` says which of them can be chosen for one."""

    mode: int | None = setting("the game's mode, if not its default", role="task", default=None)
    difficulty: int | None = setting("the game's difficulty, if not its default", role="task", default=None)
    action_set: Literal["minimal", "full"] | None = setting(
        "the actions of a console to choose from: minimal or full", role="conditions", default=None
    )
    frame_skip: int = setting(
        "frames for which an action is held", role="conditions", default=1, ge=1, le=1_000_000
    )
    start: Literal["first-reset", "no-ops"] = setting(
        "where episodes begin: first-reset, always after the first reset, or no-ops, after up to 30 frames without "
        "an action besides",
        role="conditions",
        default="first-reset",
    )
    sticky_actions: StickyActions = setting(
        "probability with which, in every frame, the action before is executed instead",
        role="conditions",
        default=0,
        ge=0,
        le=1,
    )
    chance: Chance | None = setting(
        "what planners know of chance: none, there is none; foreseen, what it will bring; sampled, what they draw; "
        "in records without this setting it was foreseen, if there was any",
        role="conditions",
        default=None,
    )
    options: Options = setting(
        "what the environment or your own factory is made with", role="task", option="option", default=Options()
    )
    game_levels: Levels | None = setting(
        "the levels that episodes begin in, such as 0-99; those of Gymnasium are seeds of its reset",
        role="task",
        option="levels",
        default=None,
    )
    evaluation_levels: Levels | None = setting(
        "the levels in which an agent that learns is evaluated, if not those of training", role="task", default=None
    )
