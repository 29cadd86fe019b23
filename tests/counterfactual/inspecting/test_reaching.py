"""Whether an answer came from the provider or was kept."""

import asyncio

from firsthand.counterfactual.inspecting.reaching import tell_when_reached, watched


class Api:
    """A provider."""

    async def generate(self, said: str) -> str:
        return said


def test_only_a_provider_that_was_called_in_this_call_was_reached() -> None:
    api = Api()
    tell_when_reached(api)
    tell_when_reached(api)
    with watched(api) as kept:
        pass
    with watched(api) as asked:
        assert not asked()
        assert asyncio.run(api.generate("so")) == "so"
    assert (kept(), asked()) == (False, True)
    with watched(Api()) as unknown:
        assert unknown()
