// Between two items: V opens what the judges said of the last one.
import { isPlainKey } from "./keys.js";

document.addEventListener("keydown", (event) => {
  if (isPlainKey(event) && event.key.toLowerCase() === "v") document.getElementById("said")?.click();
});
