"""The catalog: complete, honest about what is known, helpful about names."""

from __future__ import annotations

import re

import pytest

from adagcn.data.catalog import CATALOG, find_dataset
from adagcn.errors import InputError

DIGEST = re.compile(r"sha256:[0-9a-f]{64}|git-blob:[0-9a-f]{40}")


def test_the_papers_data_sets_are_there():
    assert set(CATALOG) == {"cora", "cora_ml", "citeseer", "pubmed", "ms_academic", "reddit"}
    assert all(key == dataset.key for key, dataset in CATALOG.items())


@pytest.mark.parametrize("name", CATALOG)
def test_every_entry_is_complete(name):
    dataset = CATALOG[name]
    assert dataset.title
    assert dataset.origin
    assert dataset.license
    assert dataset.note
    assert dataset.file.name == f"{name}.npz"
    assert dataset.raw_nodes >= dataset.cleaned.n_nodes > dataset.n_known


@pytest.mark.parametrize("name", CATALOG)
def test_what_is_downloaded_is_pinned_and_encrypted(name):
    file = CATALOG[name].file
    assert all(DIGEST.fullmatch(digest) for digest in file.digests)
    if file.url is not None:
        assert file.url.startswith("https://raw.githubusercontent.com/")
        assert file.url.endswith(f"/{file.name}")
        assert file.digests


def test_the_catalog_cannot_be_changed():
    with pytest.raises(TypeError, match="does not support item assignment"):
        CATALOG["mine"] = CATALOG["cora"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("cora-ml", "cora_ml"), ("Citeseer", "citeseer"), ("pubmd", "pubmed"), ("CORA", "cora"),
     ("ms-academic", "ms_academic"), ("redit", "reddit")],
)  # fmt: skip
def test_unknown_names_get_the_nearest(name, nearest):
    with pytest.raises(InputError, match=rf"got '{name}'\. Use ([a-z_]+ or )?{nearest}\b"):
        find_dataset(name)


def test_a_name_near_to_none_gets_all():
    with pytest.raises(InputError, match=r"cora or cora_ml or .* or the path of an \.npz"):
        find_dataset("zzz")
