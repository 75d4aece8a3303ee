// Small comforts for every page; each page works without them.

// Times in the reader's zone: a clock is rewritten, every other time gets the exact moment on hover.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
function tellTimes() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    time.title = exact.format(moment);
    if ("clock" in time.dataset) time.textContent = clock.format(moment);
  }
}
tellTimes();
addEventListener("renewed", tellTimes);

// What is shown once can be copied with one press.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl C";
    }
  });
}

// Filters apply themselves; their button is for browsers without scripts.
for (const form of document.querySelectorAll("form[data-apply]")) {
  form.addEventListener("change", () => form.requestSubmit());
  form.querySelector("[data-apply-button]").hidden = true;
}

// A form that was sent is not sent twice by an impatient second press.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    // Afterwards, because another script may still stop this one to complain.
    setTimeout(() => {
      if (!event.defaultPrevented) form.dataset.sent = "yes";
    });
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
