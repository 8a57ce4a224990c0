// Brings files and folders to a share, one file after the other, and goes on by itself after a lost connection. What it says comes from
// the page; nothing here becomes markup. Where a name that is taken is no reason for another one, nothing is replaced but what the
// person was asked about, in the version that was there then.
(() => {
  "use strict";
  const form = document.getElementById("upload");
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

  /** The service forgets after a day what is not whole; so does the browser. */
  const forgetOld = () => {
    for (const name of Object.keys(localStorage)) {
      const [, at] = localStorage.getItem(name)?.split(" ") ?? [];
      if (name.startsWith("upload ") && !(Date.now() - at < 86400000)) localStorage.removeItem(name);
    }
  };

  /** Letters and digits by chance; of the same file in the same browser the same ones, so that a new page goes on. */
  const keyOf = (file, path) => {
    const chosen = Array.from(
      crypto.getRandomValues(new Uint8Array(12)),
      (n) => n.toString(16).padStart(2, "0"),
    ).join("");
    const name = "upload " + JSON.stringify([form.dataset.to, path, file.size, file.lastModified]);
    try {
      forgetOld();
      const known = localStorage.getItem(name)?.split(" ")[0];
      if (known === undefined) localStorage.setItem(name, chosen + " " + Date.now());
      return { key: known ?? chosen, forget: () => localStorage.removeItem(name) };
    } catch {
      return { key: chosen, forget: () => {} };
    }
  };

  /** Has the button of an upload do something. */
  const offer = ({ button, path }, text, action) => {
    button.hidden = false;
    button.textContent = text;
    button.setAttribute("aria-label", text + ": " + path);
    button.onclick = action;
  };

  /** @param path With the directories that it comes in. */
  const add = (file, path) => {
    const item = element("li");
    const upload = {
      file,
      path,
      ...keyOf(file, path),
      item,
      tries: 0,
      paused: false,
      reached: 0,
      refused: 0,
    };
    upload.bar = element("progress");
    upload.bar.max = Math.max(1, file.size);
    upload.bar.value = 0;
    upload.bar.setAttribute("aria-label", path);
    upload.state = element("span", says.waiting, "quiet");
    upload.button = element("button");
    upload.button.type = "button";
    offer(upload, says.pause, () => pause(upload, !upload.paused));
    item.append(element("bdi", path), " ", upload.bar, " ", upload.state, " ", upload.button);
    list.append(item);
    waiting.push(upload);
  };

  const pause = (upload, paused) => {
    upload.paused = paused;
    offer(upload, paused ? says.resume : says.pause, () => pause(upload, !upload.paused));
    upload.state.textContent = paused ? says.paused : says.waiting;
    if (paused) {
      clearTimeout(upload.stalled);
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
    upload.button.hidden = true;
    upload.bar.value = failed ? 0 : upload.bar.max;
    const anew = document.getElementById("anew");
    if (anew !== null && !failed) anew.hidden = false;
    document.getElementById("news").textContent = upload.path + ": " + text;
    upload.forget();
    clearTimeout(upload.stalled);
    current = undefined;
    next();
  };

  /** Ends it with the reason, and offers to try once more; the files behind it go on. */
  const fail = (upload, reason) => {
    end(upload, fill(says.failed, { reason }), true);
    offer(upload, says.again, () => {
      upload.refused = 0;
      upload.state.className = "quiet";
      pause(upload, false);
    });
  };

  const isReadable = ({ file }) => file.slice(0, 1).arrayBuffer().then(() => true, () => false);

  /** Waits longer each time; a connection that is back is used at once. A file that is gone does not come back by waiting. */
  const again = (upload) => {
    clearTimeout(upload.stalled);
    if (upload.paused) return;
    upload.state.textContent = says.lost;
    const go = async () => {
      clearTimeout(upload.timer);
      removeEventListener("online", go);
      const readable = await isReadable(upload);
      if (upload.paused || current !== upload) return;
      if (readable) send(upload, "ask");
      else fail(upload, says.gone);
    };
    addEventListener("online", go);
    upload.timer = setTimeout(go, Math.min(30, 2 ** upload.tries++) * 500);
  };

  /** There is a file of that name. */
  const isTaken = (upload) => {
    end(upload, says.taken, true);
    if (form.dataset.taken === "ask") offer(upload, says.replace, () => look(upload));
  };

  /** Looks which version it is that is replaced; of one that has just changed, nobody can tell. */
  const look = (upload) => {
    upload.button.hidden = true;
    upload.state.className = "quiet";
    upload.state.textContent = says.waiting;
    const request = new XMLHttpRequest();
    request.open("HEAD", addressOf(upload.path));
    request.onerror = () => isTaken(upload);
    request.onload = () => {
      const tag = request.getResponseHeader("ETag");
      if (request.status === 200 && !tag?.startsWith('"')) {
        upload.state.textContent = says.changing;
        setTimeout(look, 1000, upload);
        return;
      }
      upload.version = request.status === 200 ? tag : undefined;
      upload.tries = 0;
      offer(upload, says.pause, () => pause(upload, !upload.paused));
      waiting.unshift(upload);
      next();
    };
    request.send();
  };

  const addressOf = (path) => form.dataset.to + path.split("/").map(encodeURIComponent).join("/");

  /** @param first Byte from which on the file is sent; "ask" asks how much is there. */
  const send = (upload, first) => {
    const { file, path, key } = upload;
    const request = new XMLHttpRequest();
    upload.request = request;
    // Some proxies swallow bytes and say nothing: what does not move for 30 s is asked about anew.
    const moves = () => {
      clearTimeout(upload.stalled);
      upload.stalled = setTimeout(() => {
        request.abort();
        again(upload);
      }, 30000);
    };
    moves();
    request.open("PUT", addressOf(path) + "?upload=" + key);
    request.setRequestHeader("Accept", "application/json");
    if (form.dataset.token !== "") request.setRequestHeader("X-Form-Token", form.dataset.token);
    if (form.dataset.taken !== "rename") {
      if (upload.version === undefined) request.setRequestHeader("If-None-Match", "*");
      else request.setRequestHeader("If-Match", upload.version);
    }
    if (first === "ask" || file.size === 0) {
      if (file.size > 0) request.setRequestHeader("Content-Range", "bytes */" + file.size);
    } else {
      request.setRequestHeader("Content-Range", "bytes " + first + "-" + (file.size - 1) + "/" + file.size);
      request.upload.onprogress = ({ loaded }) => {
        moves();
        upload.bar.value = first + loaded;
        upload.state.textContent = fill(says.progress, { sent: size(first + loaded), all: size(file.size) });
      };
    }
    request.onerror = () => again(upload);
    request.ontimeout = () => again(upload);
    request.onload = () => {
      clearTimeout(upload.stalled);
      const offset = Number(request.getResponseHeader("Upload-Offset") ?? NaN);
      if (request.status === 201 || request.status === 200) {
        const name = decodeURIComponent(request.getResponseHeader("Upload-Name") ?? "");
        const isOwn = form.dataset.taken !== "rename" || name === path;
        const done = request.status === 200 ? says.replaced : says.done;
        end(upload, isOwn ? done : fill(says.renamed, { name }), false);
      } else if (request.status === 412) {
        upload.version = undefined;
        isTaken(upload);
      } else if ((request.status === 202 || request.status === 409) && offset >= 0 && offset < file.size) {
        if (offset > upload.reached) upload.tries = upload.refused = 0;
        upload.reached = Math.max(upload.reached, offset);
        upload.bar.value = offset;
        send(upload, offset);
      } else if (
        (request.status === 429 || request.status >= 500 && request.status !== 507) && ++upload.refused < 3
      ) {
        again(upload);
      } else {
        let reason = "";
        try {
          reason = JSON.parse(request.responseText).errorMessage;
        } catch {
          reason = String(request.status);
        }
        fail(upload, reason);
      }
    };
    request.send(first === "ask" ? null : file.slice(first));
  };

  for (const input of [document.getElementById("files"), document.getElementById("folder")]) {
    input.onchange = () => {
      for (const file of input.files) add(file, file.webkitRelativePath || file.name);
      input.value = "";
      next();
    };
  }

  /** Takes what was dropped: a file, or all that is in a directory and below. */
  const walk = async (entry) => {
    const path = entry.fullPath.replace(/^\//, "");
    if (entry.isFile) add(await new Promise((done, failed) => entry.file(done, failed)), path);
    else {
      const reader = entry.createReader();
      const part = () => new Promise((done, failed) => reader.readEntries(done, failed));
      for (let some = await part(); some.length > 0; some = await part()) {
        for (const each of some) await walk(each);
      }
    }
  };
  form.onsubmit = (event) => event.preventDefault();
  document.ondragover = (event) => event.preventDefault();
  document.ondrop = async (event) => {
    event.preventDefault();
    // What was dropped is forgotten at the first pause: it is asked for before.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    for (const entry of entries) await walk(entry);
    next();
  };
  addEventListener("beforeunload", (event) => {
    if (current !== undefined) event.preventDefault();
  });
  form.hidden = false;
})();
