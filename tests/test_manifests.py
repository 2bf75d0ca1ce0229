"""Manifests: what they state, that all of it is covered, who signed it; and nobody is certified on their word."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from noveltree.audit import Depth, audit
from noveltree.audit.sampling import SAMPLE, draw, enough, probability, strength
from noveltree.benchmark import BenchmarkDirectory
from noveltree.errors import InputError, RecordError
from noveltree.records.manifest import Checked, checksums, files_digest, read_manifest
from noveltree.records.signature import check_signer, sign_manifest, signer_of
from noveltree.results import read_records
from noveltree.trial import train
from tests.support.benchmarks import TINY, create, episodes_in, play_all
from tests.support.command_line import Cli
from tests.support.forging import forge_decision, forge_lines, forge_manifest, forge_score
from tests.support.runs import small_protocol

SSH_KEYGEN = shutil.which("ssh-keygen")


@pytest.fixture
def copy(five: Path, tmp_path: Path) -> Path:
    """A benchmark with a manifest."""
    shutil.copytree(five, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two keys of OpenSSH's."""
    pytest.importorskip("cryptography", reason="needs the package cryptography")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    made = []
    for name in ("ours", "theirs"):
        key, path = Ed25519PrivateKey.generate(), tmp_path_factory.mktemp("keys") / name
        encoding, form = serialization.Encoding, serialization.PrivateFormat.OpenSSH
        path.write_bytes(key.private_bytes(encoding.PEM, form, serialization.NoEncryption()))
        path.chmod(0o600)
        public = key.public_key().public_bytes(encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        path.with_suffix(".pub").write_bytes(public + b" somebody\n")
        made.append(path)
    return made


class TestStatements:
    def test_it_says_what_was_checked_how_deep_when_and_with_what(self, copy: Path) -> None:
        manifest = read_manifest(copy)
        assert manifest is not None
        assert (manifest.checked.episodes, manifest.checked.learners) == (12, 0)
        assert manifest.checked.date.startswith("20")
        assert {"noveltree", "python", "numpy"} <= manifest.checked.versions.keys()

    @pytest.mark.parametrize(
        "field", ["episodes", "replanned", "relearnt", "date", "versions", "number", "lacking"]
    )
    def test_whatever_it_states_is_covered_by_its_digest(self, copy: Path, field: str) -> None:
        path = copy / "manifest.json"
        content = json.loads(path.read_text())
        other = {"date": "2001-01-01", "versions": {}, "number": "7", "lacking": {"run": "its episodes"}}
        content["checked"][field] = other.get(field, 99)
        path.write_text(json.dumps(content))
        with pytest.raises(RecordError, match="its digest does not fit"):
            read_manifest(copy)

    def test_a_deeper_verification_is_written_down_and_a_shallower_one_leaves_it(self, copy: Path) -> None:
        assert audit(copy, depth=Depth(replan=5, number="1")).manifest.checked.replanned >= 5
        deep = (copy / "manifest.json").read_bytes()
        assert audit(copy).holds
        assert (copy / "manifest.json").read_bytes() == deep

    def test_the_first_version_is_still_read(self, copy: Path) -> None:
        files = checksums(copy)
        first = {"format": "noveltree-manifest", "version": 1, "noveltree_version": "0.1.0", "episodes": 12}
        content = {**first, "digest": files_digest(files), "files": files}
        (copy / "manifest.json").write_text(json.dumps(content))
        manifest = read_manifest(copy)
        assert manifest is not None
        assert (manifest.checked.level, manifest.digest) == ("replayed", files_digest(files))
        assert audit(copy).holds
        assert read_manifest(copy) == manifest, "as deep as this one"

    def test_levels_in_words(self) -> None:
        assert Checked(episodes=9).level == "replayed"
        assert Checked(episodes=9, replanned=9).level == "replayed, all planned again"
        deep = Checked(episodes=9, replanned=3, learners=2, relearnt=1, lacking={"run": "its checkpoints"})
        assert deep.level == (
            "replayed, 3 of 9 planned again, 1 of 2 runs learnt again, 1 run without evidence of learning"
        )


class TestSignatures:
    def test_a_signature_names_its_key_and_fits_all_that_is_stated(self, copy: Path, keys: list[Path]) -> None:
        assert signer_of(copy) is None
        ours = sign_manifest(copy, keys[0])
        assert signer_of(copy) == check_signer(copy, str(keys[0].with_suffix(".pub"))) == ours
        assert check_signer(copy, keys[0].with_suffix(".pub").read_text()) == ours
        assert audit(copy).holds

    def test_a_manifest_that_was_forged_after_it_was_signed_is_found(self, copy: Path, keys: list[Path]) -> None:
        sign_manifest(copy, keys[0])
        forge_manifest(copy, lambda old: replace(old, checked=old.checked.model_copy(update={"replanned": 12})))
        with pytest.raises(RecordError, match=r"manifest.json was changed after it was signed"):
            signer_of(copy)

    def test_another_key_is_found(self, copy: Path, keys: list[Path]) -> None:
        theirs = sign_manifest(copy, keys[1])
        with pytest.raises(RecordError, match=re.escape(f"is signed by {theirs}, not by SHA256:")):
            check_signer(copy, str(keys[0].with_suffix(".pub")))

    def test_no_signature_is_found_where_there_has_to_be_one(self, copy: Path, keys: list[Path], cli: Cli) -> None:
        public = keys[0].with_suffix(".pub")
        assert cli("verify", copy, "--signed-by", public).sentence.endswith("manifest.json is not signed.")
        assert cli("verify", copy, "--sign", keys[0]).code == 0
        assert cli("verify", copy, "--signed-by", public, "--json").object["directories"][0]["signed_by"]

    def test_what_was_signed_stays_until_it_is_renewed(self, copy: Path, keys: list[Path]) -> None:
        sign_manifest(copy, keys[0])
        signed = (copy / "manifest.json").read_bytes()
        assert audit(copy, depth=Depth(replan=3)).holds
        assert (copy / "manifest.json").read_bytes() == signed
        assert audit(copy, renew=True).holds
        assert signer_of(copy) is None

    def test_nobody_signs_more_than_was_verified(self, copy: Path, keys: list[Path], cli: Cli) -> None:
        forge_manifest(copy, lambda old: replace(old, checked=old.checked.model_copy(update={"replanned": 12})))
        sentence = cli("verify", copy, "--sign", keys[0]).sentence
        assert "states more than was verified now (replayed, all planned again)" in sentence
        assert "which states more than was verified now (replayed, all planned again)" in cli("verify", copy).out
        assert signer_of(copy) is None
        assert cli("verify", copy, "--sign", keys[0], "--renew").code == 0
        manifest = read_manifest(copy)
        assert manifest is not None
        assert manifest.checked.replanned < 12
        assert cli("verify", copy, "--sign", keys[0], "--replan", "all", "--renew").code == 0

    def test_what_is_no_key_is_said(self, copy: Path, keys: list[Path]) -> None:
        for key, sentence in (
            (copy / "plan.json", "is not a private key"),
            (copy / "nothing", "Cannot read the key"),
        ):
            with pytest.raises(InputError, match=sentence):
                sign_manifest(copy, key)
        with pytest.raises(InputError, match="is not a public Ed25519 key"):
            check_signer(copy, str(copy / "plan.json"))

    @pytest.mark.skipif(SSH_KEYGEN is None, reason="needs OpenSSH")
    def test_openssh_checks_our_signatures_and_we_check_its(self, copy: Path, keys: list[Path]) -> None:
        ours = sign_manifest(copy, keys[0])
        checks = ["ssh-keygen", "-Y", "check-novalidate", "-n", "noveltree", "-s", copy / "manifest.json.sig"]
        with (copy / "manifest.json").open() as manifest:
            done = subprocess.run(checks, stdin=manifest, capture_output=True, text=True, check=True)
        assert ours in done.stdout
        (copy / "manifest.json.sig").unlink()
        signs = ["ssh-keygen", "-Y", "sign", "-f", keys[1], "-n", "noveltree", copy / "manifest.json"]
        subprocess.run(signs, capture_output=True, check=True)
        assert signer_of(copy) == check_signer(copy, str(keys[1].with_suffix(".pub")))


class TestNobodyIsCertifiedOnItsWord:
    def test_a_forged_reward_with_a_forged_manifest_is_reported_as_stated_and_denied_by_verify(
        self, copy: Path, cli: Cli
    ) -> None:
        forge_decision(episodes_in(copy)[0], 0, reward=100.0)
        forge_score(episodes_in(copy)[0].parent.parent.parent)
        forge_manifest(copy)
        manifest = read_manifest(copy)
        assert manifest is not None
        assert cli("report", copy, "--out", "report.md").code == 0
        report = Path("report.md").read_text()
        assert "✓" not in report
        assert "verified by replay" not in report
        assert manifest.digest in report
        assert "a manifest is the word of whoever wrote it" in report
        assert cli("verify", copy).code == 1

    def test_a_record_that_does_not_fit_its_own_checksum_is_refused_by_reports(self, copy: Path) -> None:
        path = episodes_in(copy)[0]
        content = json.loads(path.read_text())
        content["decisions"]["depth"][0] += 1
        path.write_text(json.dumps(content))
        forge_manifest(copy)
        with pytest.raises(RecordError, match="its checksum does not fit"):
            read_records([copy])

    @pytest.mark.parametrize("name", ["result.json", "run.json"])
    def test_collect_compares_with_it_whatever_it_reads(self, copy: Path, cli: Cli, name: str) -> None:
        path = copy / "trials/corridor/riw-c/trial-0" / name
        path.write_text(path.read_text() + "\n")
        assert cli("benchmark", "collect", copy).out.endswith(f"{copy}: changed since it was verified\n")

    def test_a_curve_that_was_changed_is_not_signed_off(self, tmp_path: Path) -> None:
        """Reports draw it, so that it has to be as it was verified, like the scores."""
        train(tmp_path / "run", small_protocol(interactions=2_000))
        assert read_records([tmp_path / "run"]).unverified == [str(tmp_path / "run")]
        assert audit(tmp_path / "run").holds
        assert read_records([tmp_path / "run"]).unverified == []
        forge_lines(tmp_path / "run", lambda lines: lines[-2].update(mean_return=100.0))
        assert read_records([tmp_path / "run"]).unverified == [str(tmp_path / "run")]

    def test_a_manifest_that_is_older_than_what_was_added_vouches_for_the_rest(self, copy: Path) -> None:
        create(copy, TINY.replace("trials: 2", "trials: 3"))
        play_all(BenchmarkDirectory.open(copy))
        records = read_records([copy])
        assert records.unverified == [str(copy)]
        marks = [bool(each.manifest) for each in records.agents[0].games["corridor"].episodes]
        assert marks == [True] * 6 + [False] * 3

    def test_collect_says_what_the_manifest_states(self, copy: Path, cli: Cli) -> None:
        manifest = read_manifest(copy)
        assert manifest is not None
        statement = f"by its manifest {manifest.checked.level}, digest {manifest.digest}"
        assert cli("benchmark", "collect", copy, "--json").object["manifests"] == {str(copy): statement}
        path = episodes_in(copy)[0]
        path.write_text(path.read_text() + "\n")
        assert cli("benchmark", "collect", copy).out.endswith(f"{copy}: changed since it was verified\n")
        (copy / "manifest.json").unlink()
        assert cli("benchmark", "collect", copy).out.endswith(f"{copy}: not verified\n")


class TestSamples:
    def test_a_sample_follows_from_files_and_number_and_can_be_drawn_with_a_tool_of_ones_own(self) -> None:
        names = [f"episode-{number}" for number in range(50)]
        drawn = draw(names, 5, digest="abc", number="42")

        def place(name: str) -> str:
            return hashlib.sha256(f"abc 42 {name}".encode()).hexdigest()

        assert drawn == sorted(sorted(names, key=place)[:5])
        assert draw(reversed(names), 5, digest="abc", number="42") == drawn
        assert draw(names, 5, digest="abc", number="43") != drawn
        assert draw(names, 5, digest="abd", number="42") != drawn

    def test_how_probably_it_finds_a_forged_one_by_hand(self) -> None:
        assert probability(10, 3, 1) == pytest.approx(0.3)
        assert probability(10, 3, 2) == pytest.approx(1 - 7 / 10 * 6 / 9)
        assert probability(10, 10, 1) == 1.0
        assert enough(10, 1) == 10
        assert enough(100, 10) == 25
        assert probability(100, 25, 10) >= 0.95 > probability(100, 24, 10)

    def test_the_usual_sample_finds_one_in_ten_with_95_percent_however_many_there_are(self) -> None:
        assert probability(10**6, SAMPLE, 10**5) >= 0.95 > probability(10**6, SAMPLE - 1, 10**5)

    def test_what_a_sample_finds_is_printed(self, copy: Path, cli: Cli) -> None:
        out = cli("verify", copy, "--replan", 6, "--number", 11).out
        assert strength(12, 6) in out
        assert "If episodes were forged, 6 of 12 find it: one in 10 with 77%, a single one with 50%." in out
        assert "The sample was drawn with --number 11" in out

    @pytest.mark.parametrize("given", [["--replan"], ["--replan", "all"], ["--replan=12"]])
    def test_replan_stands_alone_or_with_a_number_or_with_all(self, copy: Path, cli: Cli, given: list[str]) -> None:
        made = cli("verify", *given, copy, "--json").object["directories"][0]
        assert made["checked"]["replanned"] == 12
        assert made["level"] == "replayed, all planned again"

    def test_what_is_no_number_of_episodes_is_said(self, copy: Path, cli: Cli) -> None:
        assert cli("verify", copy, "--replan=some").sentence == (
            "Give --replan the number of episodes that are planned again, or all, not some."
        )
        assert cli("verify", copy, "--number", 3).sentence == (
            "A number draws the sample that is planned again: give --replan, too."
        )

    def test_episode_files_are_planned_again_too(self, copy: Path, cli: Cli) -> None:
        path = episodes_in(copy)[0]
        assert cli("verify", path, "--replan").out.startswith("holds  score 1 ")
        forge_decision(path, 0, cached=7)
        result = cli("verify", path, "--replan")
        assert result.code == 1
        assert "planned again, it is another one: step 0: The record has 7 cached nodes" in result.out
