// Work in hand (an import, a judge on trial or in training): its state renews itself. A file that is too large is said at once.

const BETWEEN = 1500; // milliseconds

/** Fetch this page again and put its state in place of ours; a state of another kind is another page. */
async function renew() {
  const state = document.getElementById("state");
  if (!state) return;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const news = page.getElementById("state");
    if (!news || news.dataset.status !== state.dataset.status) return location.reload();
    if (!news.isEqualNode(state)) state.replaceChildren(...news.childNodes);
  } catch {
    // The server is away for a moment: ask again.
  }
  setTimeout(renew, document.hidden ? 4 * BETWEEN : BETWEEN);
}
if (document.getElementById("state")) setTimeout(renew, BETWEEN);

const files = document.getElementById("file");
files?.addEventListener("change", () => {
  const size = [...files.files].reduce((sum, file) => sum + file.size, 0);
  const most = Number(files.dataset.most);
  const words = size > most ? `These are ${Math.ceil(size / 2 ** 20)} MiB; at most ${most / 2 ** 20} MiB go at once. Use the command line, which sends in pieces.` : "";
  files.setCustomValidity(words);
  document.getElementById("file-complaint").textContent = words;
});
