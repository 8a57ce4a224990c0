// Script of every page: shows times in the reader's zone, copies texts, leads back to a filled-in form, and sends a form once.
(() => {
  "use strict";
  const language = document.documentElement.lang;
  for (const time of document.querySelectorAll("time[datetime$=Z]")) {
    const at = new Date(time.dateTime);
    const clock = document.createElement("span");
    clock.className = time.querySelector("span")?.className ?? "";
    clock.textContent = " " + at.toLocaleTimeString(language, { timeStyle: "short" });
    time.replaceChildren(at.toLocaleDateString(language, { dateStyle: "medium" }), clock);
    for (const zone of document.querySelectorAll(".zone")) zone.remove();
  }
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = document.getElementById("news").textContent = button.dataset.done;
    });
  }
  let sentAt = -1000;
  document.addEventListener("submit", (event) => {
    // The second click of a double click would do the same again, and show an error instead of the result.
    if (performance.now() - sentAt < 1000) event.preventDefault();
    else if (!event.defaultPrevented) sentAt = performance.now();
  });
  addEventListener("pageshow", () => sentAt = -1000);
  for (const link of document.querySelectorAll("a[data-back]")) {
    link.addEventListener("click", (event) => {
      if (history.length < 2) return;
      event.preventDefault();
      history.back();
    });
  }
})();
