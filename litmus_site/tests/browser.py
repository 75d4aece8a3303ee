"""How tests drive Chromium."""

from playwright.sync_api import ConsoleMessage, Page, Request

TIMEOUT = 15_000  # milliseconds: two cores may be busy with something else
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def watch(page: Page, *, home: str) -> list[str]:
    """A list that fills with what no page may do, while the page lives."""
    complaints: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            complaints.append(message.text)

    def on_request(request: Request) -> None:
        if not request.url.startswith((f"{home}/", "data:", "blob:", "about:")):
            complaints.append(f"asked {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    page.on("request", on_request)
    return complaints
