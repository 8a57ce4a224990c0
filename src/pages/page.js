// Script of every page: shows times in the reader's zone, copies texts, and leads back to a filled-in form.
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
  for (const link of document.querySelectorAll("a[data-back]")) {
    link.addEventListener("click", (event) => {
      if (history.length < 2) return;
      event.preventDefault();
      history.back();
    });
  }
})();
