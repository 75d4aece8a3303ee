// Reading a transcript: J and K move by message, F jumps to the last answer, missing messages come in place.
import { isPlainKey } from "./keys.js";

let current = null;

function goTo(message) {
  if (!message) return;
  current?.classList.remove("current");
  current = message;
  current.classList.add("current");
  current.scrollIntoView({ block: "start" });
}

function step(by) {
  const all = [...document.querySelectorAll(".message")];
  const line = (document.querySelector(".top")?.offsetHeight ?? 0) + 16;
  const box = current?.getBoundingClientRect();
  if (box && box.bottom > line && box.top < innerHeight) goTo(all[all.indexOf(current) + by]);
  else if (by > 0) goTo(all.find((message) => message.getBoundingClientRect().top >= line - 8) ?? all.at(-1));
  else goTo(all.findLast((message) => message.getBoundingClientRect().top < line - 8) ?? all[0]);
}

async function bring(link) {
  const gap = link.closest("[data-gap]");
  const words = link.textContent;
  link.textContent = "Loading…";
  try {
    const answer = await fetch(link.href, { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const more = page.querySelector("[data-messages]");
    const first = more.querySelector(".message")?.id;
    gap.replaceWith(...more.childNodes);
    document.getElementById(first)?.scrollIntoView({ block: "start" });
  } catch {
    link.textContent = `${words} (that failed; try again)`;
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  bring(link);
});

const moves = {
  j: () => step(1),
  k: () => step(-1),
  f: () => goTo(document.querySelector(".message[data-final]")),
};
document.addEventListener("keydown", (event) => {
  if (!isPlainKey(event) || event.shiftKey) return;
  const move = moves[event.key.toLowerCase()];
  if (!move) return;
  event.preventDefault();
  move();
});
