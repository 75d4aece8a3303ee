// After a verdict: Enter or N goes on to the next item.
import { isPlainKey } from "./keys.js";

document.addEventListener("keydown", (event) => {
  if (!isPlainKey(event)) return;
  if (event.key.toLowerCase() === "n") document.getElementById("next").click();
});
