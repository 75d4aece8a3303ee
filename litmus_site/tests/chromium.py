"""Where Chromium is. `python -m litmus_site.tests.chromium` prints the path, or exits 1."""

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    if chosen := os.environ.get("LITMUS_CHROMIUM", "").strip():
        return shutil.which(chosen)
    return next((path for path in map(shutil.which, NAMES) if path), None)


if __name__ == "__main__":
    found = find_chromium()
    sys.stdout.write(found or "")
    sys.exit(0 if found else 1)
