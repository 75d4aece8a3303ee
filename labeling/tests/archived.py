"""Zip files, made in memory."""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any


def zipped(files: Mapping[str, Any]) -> bytes:
    """Each file by its name; what is neither text nor bytes is written as JSON."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return packed.getvalue()
