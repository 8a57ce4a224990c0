// Script of every page: shows times in the reader's zone, copies texts, leads back to a filled-in form, sends a form once, and
// keeps what the reader typed into a form until the service accepts it.
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
  const reader = document.querySelector("header strong")?.parentElement.textContent; // with the account
  const isTyped = ({ name, type }) =>
    name !== "" && /^(?:text|search|number|textarea|select-one|checkbox)$/.test(type);
  /** Keeps what the fields of a form show, in this tab. */
  const keep = (form) => {
    const fields = [...form.elements].filter(isTyped).map(({ name, value, checked }) => ({
      name,
      value,
      checked,
    }));
    const kept = { reader, page: location.pathname, action: form.action, fields };
    try {
      sessionStorage.setItem("form", JSON.stringify(kept));
    } catch {
      // Without storage, the reader types again.
    }
  };
  /** Fills in the form that the service did not accept, such as when the sign-in had ended, for the same reader and page only. */
  const restore = () => {
    const kept = JSON.parse(sessionStorage.getItem("form"));
    if (kept === null) return;
    if (/[?&]lost\b/.test(location.search) || document.querySelector("[data-back]") !== null) {
      return sessionStorage.setItem("form", JSON.stringify({ ...kept, isRefused: true }));
    }
    if (/\/login$/.test(location.pathname) && reader === undefined) return;
    sessionStorage.removeItem("form");
    if (!kept.isRefused || kept.reader !== reader || kept.page !== location.pathname) return;
    const form = [...document.forms].find(({ action }) => action === kept.action);
    for (const { name, value, checked } of kept.fields) {
      const field = form?.elements[name];
      if (field?.type === "checkbox") field.checked = checked;
      else if (field !== undefined) field.value = value;
    }
  };
  try {
    restore();
  } catch {
    // Without storage, nothing was kept.
  }
  let sentAt = -1000;
  document.addEventListener("submit", (event) => {
    // The second click of a double click would do the same again, and show an error instead of the result.
    if (performance.now() - sentAt < 1000) event.preventDefault();
    else if (!event.defaultPrevented) {
      sentAt = performance.now();
      if (reader !== undefined) keep(event.target);
    }
  });
  addEventListener("pageshow", () => sentAt = -1000);
  for (const link of document.querySelectorAll("a[data-back='']")) {
    link.addEventListener("click", (event) => {
      if (history.length < 2) return;
      event.preventDefault();
      history.back();
    });
  }
})();
