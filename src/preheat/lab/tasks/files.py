"""Files that only the person reads, written whole or not at all. Knows nothing of what is in them."""

import os


def write_whole(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    new = f"{path}.new-{os.getpid()}"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(data)
    os.replace(new, path)
