"""What a tree says is kept while its files are as they were, and read anew when one of them changes."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from preheat.app import fact_cache
from preheat.app.facts import load_facts
from preheat.facts import ProjectTree


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    found = tmp_path / "shop"
    found.mkdir()
    (found / "package.json").write_text('{"scripts": {"test": "vitest"}}')
    (found / "package-lock.json").write_text("{}")
    (found / ".env.example").write_text("STRIPE_KEY=sk_live_51H8sdfKJh3kjh4kjhKJHkjh4kjhkj3h4kjh\n")
    subprocess.run(["git", "init", "-q", str(found)], check=True)
    (tmp_path / "data").mkdir()
    return found


def uses(shop: Path) -> list[str]:
    return [each.use for each in load_facts(str(shop), "shop", [], (), str(shop.parent / "data")).lessons if each.use]


def test_it_is_kept_for_its_owner_only_and_without_secrets(shop: Path) -> None:
    assert "npm test" in uses(shop)
    (kept,) = (shop.parent / "data" / fact_cache.FOLDER).iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert b"sk_live_51H8" not in kept.read_bytes()
    found = fact_cache.load(str(shop.parent / "data"), str(shop), "shop")
    assert found is not None
    assert uses(shop) == [each.use for each in found[1] if each.use]


@pytest.mark.parametrize("change", ["script", "new manifest", "commit"])
def test_a_change_is_seen(shop: Path, change: str) -> None:
    uses(shop)
    if change == "script":
        (shop / "package.json").write_text('{"scripts": {"lint": "eslint ."}}')
        os.utime(shop / "package.json", ns=(1, 1))
        assert "npm run lint" in uses(shop)
    elif change == "new manifest":
        (shop / "Makefile").write_text("lint:\n\truff check\n")
        assert "make lint" in uses(shop)
    else:
        subprocess.run(["git", "-C", str(shop), "add", "-A"], check=True)
        assert fact_cache.load(str(shop.parent / "data"), str(shop), "shop") is None


def test_nothing_is_made_where_there_is_no_folder_of_ours(tmp_path: Path) -> None:
    fact_cache.save(str(tmp_path / "data"), str(tmp_path), ProjectTree(frozenset(["a"])), [])
    assert not (tmp_path / "data").exists()


def test_a_damaged_file_counts_as_none(shop: Path) -> None:
    uses(shop)
    (kept,) = (shop.parent / "data" / fact_cache.FOLDER).iterdir()
    kept.write_bytes(b"\xff broken")
    assert "npm test" in uses(shop)
