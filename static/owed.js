// While judgments are owed the page renews itself. Nobody is disturbed: not while it is hidden, read further down, or used.

const SHORTEST = 4000, LONGEST = 60000; // milliseconds
const main = document.getElementById("main");
let wait = SHORTEST;
let last = "";
let used = false;
let unfolded = false;

for (const kind of ["pointerdown", "keydown", "focusin"]) main.addEventListener(kind, () => (used = true));
main.addEventListener("click", (event) => (unfolded ||= Boolean(event.target.closest("summary"))));

const isBusy = () =>
  document.hidden || used || unfolded || scrollY > innerHeight || !getSelection().isCollapsed || main.querySelector(":is(input, select, textarea, button):focus");

/** Put what is news in place of ours; what was said once on top (a message) stays. */
async function renew() {
  if (!isBusy()) {
    try {
      const asked = performance.now();
      const answer = await fetch(location.href, { cache: "no-store" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const news = page.getElementById("main");
      if (!answer.ok || !news) return;
      const isNews = news.textContent !== last;
      if (isNews && !isBusy()) {
        last = news.textContent;
        main.replaceChildren(...main.querySelectorAll(":scope > .notes[role=status]"), ...news.childNodes);
        dispatchEvent(new Event("renewed"));
      }
      // A page that takes long to make is asked for less often, and so is one where nothing comes on.
      wait = Math.min(LONGEST, Math.max(isNews ? SHORTEST : wait * 1.5, 10 * (performance.now() - asked)));
      if (!page.querySelector("script[src*=owed]")) return;
    } catch {
      // The server is away for a moment: ask again.
    }
  }
  // Who has used it has had time to read when as much time has passed again.
  used = false;
  setTimeout(renew, wait);
}
setTimeout(renew, wait);
