"""Models of the Hugging Face hub: one short question first, then the download, then the same checks as for a folder.

The question tells within seconds whether the model exists, which commit a revision is, and which files it has; the
retries that the hub client makes on its own would take half a minute to say that there is no network.
"""

from pathlib import Path

from huggingface_hub import HfApi, ModelInfo, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from firsthand.engine.loading.cache import explained
from firsthand.engine.loading.names import known_names
from firsthand.engine.loading.quiet import Progress
from firsthand.engine.loading.refuse import check_names
from firsthand.errors import ModelError

TIMEOUT_SECONDS = 5.0
_PATTERNS = ["*.safetensors", "*.json", "*.model", "*.txt", "*.jinja", "*.tiktoken"]
_IGNORED = ["*/*", "consolidated*"]


def fetch(repo_id: str, revision: str | None, progress: Progress) -> tuple[Path, str]:
    """Download a model, or find it in the hub client's own cache, and say which commit it is.

    Args:
        repo_id: An id such as ``owner/model``.
        revision: Branch, tag or commit; None means the main branch.
        progress: Told the size of a download.

    Returns:
        The folder of the snapshot, and its commit.

    Raises:
        ModelError: If it does not exist, is gated, holds no safetensors, or can be reached neither online nor in the
            cache.
    """
    try:
        info = _ask(repo_id, revision)
    except GatedRepoError as error:
        raise ModelError(
            f"Access to {repo_id!r} is restricted by its owner.",
            "Accept its terms on huggingface.co, then log in with `hf auth login`.",
        ) from error
    except RevisionNotFoundError as error:
        raise ModelError(f"{repo_id!r} has no revision {revision!r}.", "Check the branch, tag or commit.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise ModelError(
            f"There is no public model {repo_id!r} on huggingface.co.", f"Check the id. {known_names(repo_id)}"
        ) from error
    except Exception as error:
        cached = _cached(repo_id, revision)
        if cached is None:
            raise _unreachable(repo_id, revision, error) from error
        progress(f"huggingface.co was not reached; using the copy of {repo_id} in the local cache")
        return cached, cached.name
    return _download(repo_id, info, progress)


def _ask(repo_id: str, revision: str | None) -> ModelInfo:
    return HfApi().model_info(repo_id, revision=revision, timeout=TIMEOUT_SECONDS, files_metadata=True)


def _download(repo_id: str, info: ModelInfo, progress: Progress) -> tuple[Path, str]:
    top = {file.rfilename: int(file.size or 0) for file in info.siblings or () if "/" not in file.rfilename}
    check_names(top, f"{repo_id} on huggingface.co")
    size = sum(length for name, length in top.items() if name.endswith(".safetensors"))
    progress(f"Fetching {repo_id}: up to {size / 1e6:,.0f} MB")
    try:
        from huggingface_hub.constants import HF_HUB_CACHE

        with explained(Path(HF_HUB_CACHE), size):
            folder = snapshot_download(
                repo_id,
                revision=info.sha,
                allow_patterns=_PATTERNS,
                ignore_patterns=_IGNORED,
                etag_timeout=TIMEOUT_SECONDS,
            )
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"The download of {repo_id!r} broke off: {type(error).__name__}: {error}.",
            "Run the same command again; what has been fetched is kept.",
        ) from error
    return Path(folder), str(info.sha)


def _cached(repo_id: str, revision: str | None) -> Path | None:
    try:
        return Path(snapshot_download(repo_id, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None


def _unreachable(repo_id: str, revision: str | None, error: Exception) -> ModelError:
    version = f" at revision {revision!r}" if revision else ""
    return ModelError(
        f"The model {repo_id!r}{version} was not found: it is not a bundled name, not a folder or file here, not in "
        f"the local Hugging Face cache, and huggingface.co was not reached ({type(error).__name__}: {error}).",
        f"Go online, give a local folder, or use a bundled model. {known_names(repo_id)}",
    )
