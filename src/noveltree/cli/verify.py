"""`noveltree verify`: does a recorded score hold, and is everything in a directory true?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperCommand

from noveltree.audit import SAMPLE, Audit, Depth, audit, plan_file, strength
from noveltree.cli.common import Import
from noveltree.cli.console import LiveLine, cores, counted, out, print_json
from noveltree.errors import InputError, NoveltreeError
from noveltree.records import read_episode
from noveltree.records.manifest import MANIFEST
from noveltree.records.signature import check_signer, sign_manifest, signer_of
from noveltree.replay import verify_episode

_ALL = "all"


class OptionalCount(TyperCommand):
    """Lets `--replan` stand alone, also before a path: its number may follow, and need not."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = []
        for number, arg in enumerate(args):
            following = args[number + 1] if number + 1 < len(args) else ""
            alone = arg == "--replan" and following != _ALL and not following.isdecimal()
            given.append(f"--replan={SAMPLE}" if alone else arg)
        return super().parse_args(ctx, given)


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Episode files, or directories of runs or benchmarks.")],
    replan: Annotated[
        str | None,
        typer.Option(
            metavar="[K|all]",
            help="Plan episodes again from protocol, seed and index, and compare every decision: a sample of K, or "
            f"all; {SAMPLE} if no number is given.",
        ),
    ] = None,
    number: Annotated[
        str | None,
        typer.Option(
            help="With which the sample is drawn, together with the digest of the files: one that was published "
            "after they were.",
            show_default="one that nobody could foresee",
        ),
    ] = None,
    relearn: Annotated[
        bool, typer.Option("--relearn", help="Let runs learn again what they have learnt, from their episodes.")
    ] = False,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial",
            help="Accept runs without the checkpoints, or the episodes, that show what they learnt; the manifest "
            "names them.",
        ),
    ] = False,
    registered: Annotated[
        str | None,
        typer.Option(metavar="DIGEST", help="What was published when the benchmark was registered."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Number of processes that replay.", min=1, show_default="one per processor core"),
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Sign off again what has changed since a directory was signed off.")
    ] = False,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Sign manifest.json with this Ed25519 key, as ssh-keygen makes them."),
    ] = None,
    signed_by: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The public key, or its file, by which manifest.json must be signed."),
    ] = None,
    imports: Import = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Replay recorded episodes in a fresh emulator, without planning, and compare.

    In a directory, every episode is replayed, and results, learning and tables are compared with the episodes. If
    all of it holds, what was checked, how deep, and the checksums of all files are written to manifest.json; an
    existing manifest.json must match.

    Exits with 1 if anything does not hold or cannot be read.

    [bold]Examples[/]

      noveltree verify episodes/*.json

      noveltree verify results/paper-planners --replan

      noveltree verify runs/qbert-n-cpl-seed0 --relearn --replan 5
    """
    depth = Depth(_count(replan), number, relearn, partial, registered)
    if number is not None and depth.replan is None:
        raise InputError("A number draws the sample that is planned again: give --replan, too.")
    asked = {
        **{"--renew": renew, "--relearn": relearn, "--partial": partial},
        **{"--sign": sign, "--signed-by": signed_by, "--registered": registered},
    }
    if not any(path.is_dir() for path in paths):
        for option, given in asked.items():
            if given:
                raise InputError(f"Only directories are signed off; leave out {option}.")
    keys = Keys(sign, signed_by)
    paths = _without_manifests(paths)
    files: list[dict[str, Any]] = []
    directories: list[dict[str, Any]] = []
    for place, path in enumerate(paths, start=1):
        if path.is_dir():
            try:
                directories.append(
                    _verify_directory(path, workers or cores(), depth, keys, renew=renew, quiet=json)
                )
            except NoveltreeError as error:
                if len(paths) == 1:
                    raise
                directories.append(_unreadable(path, str(error), quiet=json))
            continue
        with LiveLine(quiet=json) as line:
            line.update(f"Verifying {place} of {len(paths)}: {path}")
            files.append(_verify_file(path, replan=replan is not None))
        if not json:
            _report_file(files[-1])
    failed = sum(not result["holds"] for result in (*files, *directories))
    if json:
        print_json({"verified": len(paths) - failed, "failed": failed, "files": files, "directories": directories})
    elif files:
        held = sum(result["holds"] for result in files)
        out.print(f"{held} of {len(files)} hold")
    if failed:
        raise typer.Exit(1)


COMMAND = OptionalCount


@dataclass(frozen=True, slots=True)
class Keys:
    """By which key manifests are to be signed, and by which they must be."""

    sign: Path | None
    signed_by: str | None

    def use(self, directory: Path) -> str | None:
        """Sign the manifest of a directory, or check who has; the fingerprint of the key, if there is one."""
        if self.sign is not None:
            return sign_manifest(directory, self.sign)
        if self.signed_by is not None:
            return check_signer(directory, self.signed_by)
        return signer_of(directory)


def _count(replan: str | None) -> int | None:
    """How many episodes are planned again."""
    if replan is None or replan == _ALL:
        return None if replan is None else sys.maxsize
    if not replan.isdecimal() or int(replan) < 1:
        raise InputError(f"Give --replan the number of episodes that are planned again, or all, not {replan}.")
    return int(replan)


def _without_manifests(paths: Sequence[Path]) -> list[Path]:
    """What is to be verified of `episodes/*.json`, among which there may be what verifying a directory wrote."""
    episodes = [path for path in paths if path.name != MANIFEST]
    if not episodes:
        raise InputError(f"{paths[0]} is not an episode but signs off its directory: give {paths[0].parent}.")
    return episodes


def _unreadable(path: Path, problem: str, *, quiet: bool) -> dict[str, Any]:
    """What there is to say of a directory that cannot be verified, so that others are."""
    if not quiet:
        out.print(Text.assemble(("UNREADABLE", "bold red"), f"  {problem}"), soft_wrap=True)
    findings = [{"file": "", "holds": False, "replayed": False, "finding": problem}]
    return {"directory": str(path), "holds": False, "episodes": 0, "findings": findings, "manifest": None}


def _verify_directory(
    path: Path, workers: int, depth: Depth, keys: Keys, *, renew: bool, quiet: bool
) -> dict[str, Any]:
    with LiveLine(quiet=quiet) as line:
        made = audit(
            path,
            depth=depth,
            workers=workers,
            renew=renew,
            on_progress=lambda what, done, total: line.update(f"{what}: {done:,} of {total:,} of {path}"),
        )
    if keys.sign is not None and made.holds and made.manifest.checked.deeper_than(made.checked):
        raise InputError(
            f"{path / MANIFEST} states more than was verified now ({made.manifest.checked.level}), and it is not "
            "known who wrote it. Verify as much, or sign off what was verified now with --renew."
        )
    signature = keys.use(path) if made.holds else None
    if not quiet:
        _report_directory(path, made, signature)
    checked = made.checked.model_dump(mode="json")
    return {
        "directory": str(path),
        "holds": made.holds,
        "episodes": made.episodes,
        "findings": [
            {
                "file": finding.file,
                "holds": finding.holds,
                "replayed": finding.replayed,
                "finding": finding.sentence,
            }
            for finding in made.findings
        ],
        "level": made.checked.level,
        "checked": checked,
        "manifest": made.manifest.digest if made.holds else None,
        "signed_by": signature,
    }


def _report_directory(path: Path, made: Audit, signature: str | None) -> None:
    for finding in sorted(made.findings, key=lambda finding: finding.holds):
        failed = "DOES NOT HOLD" if finding.replayed else "NOT REPLAYED"
        mark = ("caveat", "yellow") if finding.holds else (failed, "bold red")
        out.print(Text.assemble(mark, f"  {path / finding.file}: {finding.sentence}"), soft_wrap=True)
    if not made.holds:
        bad = len({finding.file for finding in made.findings if not finding.holds})
        of = f"{counted(bad, 'file')} of {counted(len(made.manifest.files), 'file')} in doubt"
        out.print(f"{path}: {of}", soft_wrap=True)
        if (path / MANIFEST).exists():
            again = shlex.join(["noveltree", "verify", "--renew", str(path)])
            out.print(f"If files were added or changed on purpose, sign them off again: {again}", soft_wrap=True)
        return
    checked = made.checked
    episodes = f"{counted(made.episodes, 'episode')} {'holds' if made.episodes == 1 else 'hold'}"
    out.print(f"{path}: {episodes} ({checked.level})", soft_wrap=True)
    if made.sample is not None:
        out.print(strength(*made.sample), soft_wrap=True)
    if checked.number is not None:
        out.print(f"The sample was drawn with --number {checked.number}", soft_wrap=True)
    signed = f", signed by {signature}" if signature else ""
    more = " earlier, which states more than was verified now" if made.manifest.checked.deeper_than(checked) else ""
    out.print(
        f"{counted(len(made.manifest.files), 'file')} signed off in {path / MANIFEST}{more} "
        f"({made.manifest.checked.level}), digest {made.manifest.digest}{signed}",
        soft_wrap=True,
    )


def _report_file(result: dict[str, Any]) -> None:
    if result["score"] is None:
        out.print(Text.assemble(("UNREADABLE", "bold red"), f"  {result['finding']}"), soft_wrap=True)
        return
    failed = "DOES NOT HOLD" if result["replayed"] else "NOT REPLAYED"
    mark = ("holds", "green") if result["holds"] else (failed, "bold red")
    finding = f"  ({result['finding']})" if result["finding"] else ""
    out.print(Text.assemble(mark, f"  score {result['score']:,.10g}  {result['file']}{finding}"), soft_wrap=True)


def _verify_file(file: Path, *, replan: bool) -> dict[str, Any]:
    score: float | None = None
    try:
        record = read_episode(file)
        score = record.episode.score
        verification = verify_episode(record)
        if replan and verification.holds:
            holds, finding = plan_file(file)
            finding = "; ".join(filter(None, [verification.finding, finding]))
            verification = replace(verification, holds=holds, finding=finding)
    except NoveltreeError as error:
        return {"file": str(file), "holds": False, "replayed": False, "score": score, "finding": str(error)}
    return {
        "file": str(file),
        "holds": verification.holds,
        "replayed": True,
        "score": score,
        "finding": verification.finding,
    }
