// Shared by the modules that listen to keys.

const writes = "input:not([type=radio]):not([type=checkbox]):not([type=hidden]), textarea, select";

/** A key pressed on its own, outside any text field and any open dialog. */
export function isPlainKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  return !event.target.closest?.(writes) && !document.querySelector("dialog[open]");
}
