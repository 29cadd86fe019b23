"""The middle of a block is found by looking, and is only believed where an edit of it adds up."""

import pytest
import torch
from torch import Tensor, nn

from firsthand.engine.midpoints import find_midpoints, first_tensor

WIDTH = 6


class Part(nn.Module):
    """Something that depends on its input in no simple way."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(WIDTH, WIDTH)

    def forward(self, given: Tensor) -> Tensor:
        return torch.tanh(self.inner(given))


class OneAfterTheOther(nn.Module):
    """Attention, and then the feed-forward part."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention, self.second_norm, self.mlp = nn.LayerNorm(WIDTH), Part(), nn.LayerNorm(WIDTH), Part()

    def forward(self, stream: Tensor) -> Tensor:
        stream = stream + self.attention(self.norm(stream))
        return stream + self.mlp(self.second_norm(stream))


class Scaled(OneAfterTheOther):
    """The feed-forward part is added with a factor."""

    def forward(self, stream: Tensor) -> Tensor:
        stream = stream + 0.3 * self.attention(self.norm(stream))
        return stream + 0.3 * self.mlp(self.second_norm(stream))


class SideBySide(OneAfterTheOther):
    """Both parts are given the block's input."""

    def forward(self, stream: Tensor) -> Tensor:
        return stream + self.attention(self.norm(stream)) + self.mlp(self.second_norm(stream))


class NormedResidual(OneAfterTheOther):
    """What is added to is the normed stream, as in a post-norm block."""

    def forward(self, stream: Tensor) -> Tensor:
        stream = self.norm(stream + self.attention(stream))
        return self.second_norm(stream + self.mlp(stream))


class Copied(OneAfterTheOther):
    """The feed-forward part is given a copy, so that an edit of it would not reach the residual."""

    def forward(self, stream: Tensor) -> Tensor:
        stream = stream + self.attention(self.norm(stream))
        return stream + self.mlp(self.second_norm(stream.clone()))


class Tupled(OneAfterTheOther):
    """Returns a tuple."""

    def forward(self, stream: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return super().forward(stream), None


def found(kind: type[nn.Module]) -> tuple[str | None, ...]:
    """Names of the children that are given the middle, of two blocks one after the other."""
    torch.manual_seed(0)
    blocks = [kind(), kind()]
    given = torch.randn(2, 3, WIDTH)

    def run() -> None:
        stream = given.clone()
        for block in blocks:
            stream = block(stream)
            stream = stream[0] if isinstance(stream, tuple) else stream

    with torch.no_grad():
        children = find_midpoints(run, blocks)
    assert not any(m._forward_hooks or m._forward_pre_hooks for block in blocks for m in block.modules())
    return tuple(
        next((name for name, child in block.named_children() if child is middle), None)
        for block, middle in zip(blocks, children, strict=True)
    )


@pytest.mark.parametrize("kind", [OneAfterTheOther, Scaled, Tupled])
def test_the_middle_is_what_the_second_norm_is_given(kind: type[nn.Module]) -> None:
    assert found(kind) == ("second_norm", "second_norm")


@pytest.mark.parametrize("kind", [SideBySide, NormedResidual, Copied])
def test_a_block_has_no_middle_where_an_edit_of_it_would_not_add_up(kind: type[nn.Module]) -> None:
    assert found(kind) == (None, None)


def test_the_first_tensor_may_be_named() -> None:
    tensor = torch.ones(1)
    assert first_tensor((None, 1), {"mask": None, "hidden_states": tensor}) is tensor
    assert first_tensor((None,)) is None
