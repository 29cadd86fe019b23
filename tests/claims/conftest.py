"""A claim and bindings to freeze it with."""

import pytest

from firsthand.claims import Bindings, Claim, default_claim


@pytest.fixture
def claim() -> Claim:
    return default_claim()


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(weights_sha256="a" * 64, tokenizer_sha256="b" * 64, config_sha256="c" * 64, package_version="1.0")
