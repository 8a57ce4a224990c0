// Brings files to a share for uploads, one after the other, and goes on by itself after a lost connection. What it says
// comes from the page; nothing here becomes markup.
(() => {
  "use strict";
  const form = document.getElementById("upload");
  const input = document.getElementById("files");
  const list = document.getElementById("brought");
  const says = JSON.parse(form.dataset.says);
  const waiting = [];
  let current;

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const size = (bytes) => {
    let value = bytes;
    let unit = 0;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    return (unit === 0 ? value : value.toFixed(1)) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][unit];
  };
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  };

  /** Letters and digits by chance; of the same file in the same browser the same ones, so that a new page goes on. */
  const keyOf = (file) => {
    const chosen = Array.from(
      crypto.getRandomValues(new Uint8Array(12)),
      (n) => n.toString(16).padStart(2, "0"),
    ).join("");
    const name = "upload " + JSON.stringify([form.dataset.to, file.name, file.size, file.lastModified]);
    try {
      const known = localStorage.getItem(name);
      if (known === null) localStorage.setItem(name, chosen);
      return { key: known ?? chosen, forget: () => localStorage.removeItem(name) };
    } catch {
      return { key: chosen, forget: () => {} };
    }
  };

  const add = (file) => {
    const item = element("li");
    const upload = { file, ...keyOf(file), item, tries: 0, paused: false };
    upload.bar = element("progress");
    upload.bar.max = Math.max(1, file.size);
    upload.bar.value = 0;
    upload.bar.setAttribute("aria-label", file.name);
    upload.state = element("span", says.waiting, "quiet");
    upload.button = element("button", says.pause);
    upload.button.type = "button";
    upload.button.setAttribute("aria-label", says.pause + ": " + file.name);
    upload.button.onclick = () => pause(upload, !upload.paused);
    item.append(element("bdi", file.name), " ", upload.bar, " ", upload.state, " ", upload.button);
    list.append(item);
    waiting.push(upload);
  };

  const pause = (upload, paused) => {
    upload.paused = paused;
    upload.button.textContent = paused ? says.resume : says.pause;
    upload.button.setAttribute("aria-label", upload.button.textContent + ": " + upload.file.name);
    upload.state.textContent = paused ? says.paused : says.waiting;
    if (paused) {
      upload.request?.abort();
      clearTimeout(upload.timer);
      if (current === upload) current = undefined;
    } else {
      upload.tries = 0;
      waiting.unshift(upload);
    }
    next();
  };

  const next = () => {
    if (current !== undefined) return;
    current = waiting.shift();
    if (current === undefined) return;
    if (current.paused) {
      current = undefined;
      return next();
    }
    send(current, "ask");
  };

  const end = (upload, text, failed) => {
    upload.state.textContent = text;
    upload.state.className = failed ? "down" : "up";
    upload.button.remove();
    upload.bar.value = failed ? 0 : upload.bar.max;
    document.getElementById("news").textContent = upload.file.name + ": " + text;
    if (!failed) upload.forget();
    current = undefined;
    next();
  };

  /** Waits longer each time; a connection that is back is used at once. */
  const again = (upload) => {
    if (upload.paused) return;
    upload.state.textContent = says.lost;
    const go = () => {
      clearTimeout(upload.timer);
      removeEventListener("online", go);
      if (!upload.paused && current === upload) send(upload, "ask");
    };
    addEventListener("online", go);
    upload.timer = setTimeout(go, Math.min(30, 2 ** upload.tries++) * 500);
  };

  /** @param first Byte from which on the file is sent; "ask" asks how much is there. */
  const send = (upload, first) => {
    const { file, key } = upload;
    const request = new XMLHttpRequest();
    upload.request = request;
    request.open("PUT", form.dataset.to + encodeURIComponent(file.name) + "?upload=" + key);
    request.setRequestHeader("Accept", "application/json");
    if (first === "ask" || file.size === 0) {
      if (file.size > 0) request.setRequestHeader("Content-Range", "bytes */" + file.size);
    } else {
      request.setRequestHeader("Content-Range", "bytes " + first + "-" + (file.size - 1) + "/" + file.size);
      request.upload.onprogress = ({ loaded }) => {
        upload.bar.value = first + loaded;
        upload.state.textContent = fill(says.progress, { sent: size(first + loaded), all: size(file.size) });
      };
    }
    request.onerror = () => again(upload);
    request.ontimeout = () => again(upload);
    request.onload = () => {
      const offset = Number(request.getResponseHeader("Upload-Offset") ?? NaN);
      if (request.status === 201) {
        const name = decodeURIComponent(request.getResponseHeader("Upload-Name") ?? "");
        end(upload, name === file.name ? says.done : fill(says.renamed, { name }), false);
      } else if ((request.status === 202 || request.status === 409) && offset >= 0 && offset < file.size) {
        if (offset > 0) upload.tries = 0;
        upload.bar.value = offset;
        send(upload, offset);
      } else if (request.status === 429 || request.status >= 500 && request.status !== 507) again(upload);
      else {
        let reason = "";
        try {
          reason = JSON.parse(request.responseText).errorMessage;
        } catch {
          reason = String(request.status);
        }
        end(upload, fill(says.failed, { reason }), true);
      }
    };
    request.send(first === "ask" ? null : file.slice(first));
  };

  const take = (files) => {
    for (const file of files) add(file);
    next();
  };
  input.onchange = () => {
    take(input.files);
    input.value = "";
  };
  form.onsubmit = (event) => event.preventDefault();
  form.ondragover = (event) => event.preventDefault();
  form.ondrop = (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  };
  addEventListener("beforeunload", (event) => {
    if (current !== undefined) event.preventDefault();
  });
  form.hidden = false;
})();
