// Uploads files and folders, four at a time, and resumes after a lost connection. All texts come from the page; the script
// inserts them as text, never as markup. Unless the service renames, an upload replaces only the version of a file that the
// person agreed to replace.
(() => {
  "use strict";
  const form = document.getElementById("upload");
  const list = document.getElementById("uploads");
  const total = document.getElementById("total");
  const news = document.getElementById("news");
  const says = JSON.parse(form.dataset.says);
  const language = document.documentElement.lang;
  const isOwnBrowser = form.dataset.token !== "";

  const AT_ONCE = 4;
  /** Some proxies drop bytes without an error; the daemon reads a whole file again for its checksum. */
  const STALL_MS = 30000;
  const CHECKSUM_MS = 120000;
  /** The service signs out browsers that are idle for a minute or longer, and upload requests can take hours. */
  const SIGN_OF_LIFE_MS = 20000;
  /** The checksum of so many bytes takes a browser about ten seconds, and the daemon reads the file again. */
  const MOST_CHECKED = 2 ** 30;
  /** Files that file managers create; nobody wants to upload them. */
  const OMITTED = [".DS_Store", "Thumbs.db"];

  const uploads = [];
  const waiting = [];
  const running = new Set();
  let omitted = 0;
  let isPaused = false;
  let busyMs = 0;
  let busySince;
  let sentBytes = 0;
  let life;

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const size = (bytes) => {
    let value = bytes;
    let unit = 0;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    const text = value.toLocaleString(language, { maximumFractionDigits: unit === 0 ? 0 : 1 });
    return text + " " + ["", "Ki", "Mi", "Gi", "Ti"][unit] + (language === "fr" ? "o" : "B");
  };
  const duration = (seconds) => {
    const [unit, length] = seconds < 90 ? ["second", 1] : seconds < 5400 ? ["minute", 60] : ["hour", 3600];
    const format = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 };
    return Math.ceil(seconds / length).toLocaleString(language, format);
  };
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  };
  const button = (text, action) => {
    const made = element("button", text, "plain");
    made.type = "button";
    made.onclick = action;
    return made;
  };

  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const fraction = (root) => Math.floor((root % 1) * 2 ** 32) | 0;
  const K = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
  const words = new Int32Array(64);
  const rotated = (word, by) => word >>> by | word << 32 - by;
  /** Adds blocks of 64 bytes to the state of SHA-256 (FIPS 180-4, 6.2.2). */
  const digestBlocks = (state, bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at + 64 <= bytes.length; at += 64) {
      for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i);
      for (let i = 16; i < 64; i++) {
        const x = words[i - 15];
        const y = words[i - 2];
        const s0 = rotated(x, 7) ^ rotated(x, 18) ^ x >>> 3;
        const s1 = rotated(y, 17) ^ rotated(y, 19) ^ y >>> 10;
        words[i] = words[i - 16] + s0 + words[i - 7] + s1 | 0;
      }
      for (let i = 0; i < 64; i++) {
        const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
        const t1 = h + s1 + (e & f ^ ~e & g) + K[i] + words[i] | 0;
        const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
        const t2 = s0 + (b & c ^ a & (b ^ c)) | 0;
        h = g;
        g = f;
        f = e;
        e = d + t1 | 0;
        d = c;
        c = b;
        b = a;
        a = t1 + t2 | 0;
      }
      state[0] = a = a + state[0] | 0;
      state[1] = b = b + state[1] | 0;
      state[2] = c = c + state[2] | 0;
      state[3] = d = d + state[3] | 0;
      state[4] = e = e + state[4] | 0;
      state[5] = f = f + state[5] | 0;
      state[6] = g = g + state[6] | 0;
      state[7] = h = h + state[7] | 0;
    }
  };
  /** Returns the SHA-256 of a file in base64, read in pieces; undefined if it cannot be read. */
  const digestOf = async (file) => {
    const state = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
    const piece = 2 ** 20;
    try {
      for (let at = 0; at <= file.size; at += piece) {
        const read = new Uint8Array(await file.slice(at, at + piece).arrayBuffer());
        if (read.length === piece) digestBlocks(state, read);
        else {
          const last = new Uint8Array(Math.ceil((read.length + 9) / 64) * 64);
          last.set(read);
          last[read.length] = 128;
          new DataView(last.buffer).setBigUint64(last.length - 8, BigInt(file.size) * 8n);
          digestBlocks(state, last);
        }
      }
    } catch {
      return undefined;
    }
    const bytes = new DataView(new ArrayBuffer(32));
    state.forEach((word, i) => bytes.setInt32(4 * i, word));
    return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
  };

  /** Returns the names of uploads to this page that are incomplete. Service and browser forget them after a day. */
  const unfinished = () => {
    const names = [];
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith("upload ")) continue;
      const [, at] = localStorage.getItem(name).split(" ");
      if (!(Date.now() - at < 86400000)) localStorage.removeItem(name);
      else {
        const [to, path] = JSON.parse(name.slice(7));
        if (to === form.dataset.to) names.push(path);
      }
    }
    return names;
  };

  const randomKey = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => n.toString(16).padStart(2, "0")).join("");

  /** Returns the random key of an upload; the same for the same file in the same browser, so that a later page resumes it. */
  const keyOf = (file, path) => {
    const chosen = randomKey();
    const name = "upload " + JSON.stringify([form.dataset.to, path, file.size, file.lastModified]);
    try {
      const known = localStorage.getItem(name)?.split(" ")[0];
      if (known === undefined) localStorage.setItem(name, chosen + " " + Date.now());
      return {
        key: known ?? chosen,
        isNew: known === undefined,
        forget: () => localStorage.removeItem(name),
      };
    } catch {
      return { key: chosen, isNew: true, forget: () => {} };
    }
  };

  let isDrawn = false;
  /** Shows the totals in the next frame. */
  const draw = () => {
    if (isDrawn || uploads.length === 0) return;
    isDrawn = true;
    requestAnimationFrame(() => {
      isDrawn = false;
      const counted = uploads.filter(({ status }) => status !== "skipped" && status !== "failed");
      const sum = (values) => values.reduce((all, value) => all + value, 0);
      const all = sum(counted.map(({ file }) => file.size));
      const sent = sum(counted.map(({ at }) => at));
      const ms = busyMs + (busySince === undefined ? 0 : performance.now() - busySince);
      const left = ms > 1000 && sentBytes > 0 ? (all - sent) * ms / sentBytes / 1000 : 0;
      const texts = [
        fill(says.files, {
          done: counted.filter(({ status }) => status === "done").length,
          all: counted.length,
        }),
        fill(says.progress, { sent: size(sent), all: size(all) }),
        left > 0 && running.size > 0 && fill(says.left, { time: duration(left) }),
        omitted > 0 && fill(says.omitted, { count: omitted, names: OMITTED.join(", ") }),
      ];
      total.hidden = false;
      total.firstElementChild.textContent = texts.filter(Boolean).join(" · ");
      const isOver = running.size === 0 && waiting.length === 0 && !isPaused;
      if (isOver && document.activeElement === total.lastElementChild) list.focus();
      total.lastElementChild.hidden = isOver;
      total.lastElementChild.textContent = isPaused ? says.resumeAll : says.pauseAll;
    });
  };

  /** Shows the state of an upload, with buttons. @param choices Texts and actions of the buttons. */
  const show = (upload, status, text, choices = []) => {
    upload.status = status;
    upload.state.textContent = text;
    upload.state.className = status === "done" ? "up" : status === "failed" ? "down" : "quiet";
    const hasFocus = upload.buttons.contains(document.activeElement);
    upload.buttons.replaceChildren(...choices.flatMap(([says, action]) => {
      const made = button(says, action);
      made.setAttribute("aria-label", says + ": " + upload.path);
      return [made, " "];
    }));
    // Otherwise the focus of keyboard and screen reader would return to the top of the page.
    if (hasFocus) (upload.buttons.firstElementChild ?? list).focus();
    draw();
  };

  /** Adds an item, and lets the keyboard scroll the list: an empty one would be a stop without anything to see. */
  const append = (item) => {
    list.tabIndex = 0;
    list.append(item);
  };

  /** Adds a file. @param path With its directories. */
  const add = (file, path) => {
    if (OMITTED.includes(path.split("/").pop())) {
      omitted++;
      return;
    }
    const item = element("li");
    const upload = { file, path, ...keyOf(file, path), item, tries: 0, at: 0, reached: 0, refused: 0 };
    upload.bar = element("progress");
    upload.bar.max = Math.max(1, file.size);
    upload.bar.value = 0;
    upload.bar.setAttribute("aria-label", path);
    upload.state = element("span");
    upload.buttons = element("span");
    item.append(element("bdi", path), " ", upload.bar, " ", upload.state, " ", upload.buttons);
    append(item);
    uploads.push(upload);
    wait(upload);
  };

  const pauseChoice = (upload) => [says.pause, () => pause(upload)];

  /** Queues an upload. @param isFirst Whether in front of the others. */
  const wait = (upload, isFirst = false) => {
    show(upload, "waiting", says.waiting, [pauseChoice(upload)]);
    if (isFirst) waiting.unshift(upload);
    else waiting.push(upload);
  };

  /** Takes an upload out of the queue and stops its request. */
  const stop = (upload) => {
    clearTimeout(upload.stalled);
    clearTimeout(upload.timer);
    removeEventListener("online", upload.go);
    upload.request?.abort();
    if (waiting.includes(upload)) waiting.splice(waiting.indexOf(upload), 1);
    running.delete(upload);
    if (running.size === 0 && busySince !== undefined) {
      busyMs += performance.now() - busySince;
      busySince = undefined;
    }
  };

  const restart = (upload) => {
    upload.tries = upload.refused = 0;
    wait(upload, true);
    next();
  };

  const pause = (upload) => {
    stop(upload);
    show(upload, "paused", says.paused, [[says.resume, () => restart(upload)]]);
    next();
  };

  const skip = (upload) => {
    stop(upload);
    upload.forget();
    show(upload, "skipped", says.skipped);
    next();
  };

  /** Tells the service while uploads run that the browser is not idle. */
  const showLife = () => {
    const signOut = document.querySelector("form[action$='/logout']");
    if (running.size > 0) {
      fetch(new URL("login", signOut.action), { method: "HEAD", redirect: "manual" }).catch(() => {});
    } else {
      clearInterval(life);
      life = undefined;
    }
  };

  const next = () => {
    if (isOwnBrowser) life ??= setInterval(showLife, SIGN_OF_LIFE_MS);
    while (!isPaused && running.size < AT_ONCE && waiting.length > 0) {
      const upload = waiting.shift();
      running.add(upload);
      busySince ??= performance.now();
      if (!list.matches(":hover, :focus-within")) {
        list.scrollTop = upload.item.offsetTop - list.offsetTop - list.clientHeight / 3;
      }
      if (upload.file.size <= MOST_CHECKED) upload.digest ??= digestOf(upload.file);
      send(upload, upload.isNew ? 0 : "ask");
    }
    if (running.size === 0 && waiting.length === 0 && !isPaused && uploads.length > 0) {
      news.textContent = says.over;
    }
    draw();
  };

  const end = (upload, status, text, choices) => {
    stop(upload);
    upload.bar.value = status === "done" ? upload.bar.max : 0;
    upload.at = status === "done" ? upload.file.size : 0;
    show(upload, status, text, choices);
    const anew = document.getElementById("anew");
    if (anew !== null && status === "done") anew.hidden = false;
    if (status === "failed" || uploads.length < 20) news.textContent = upload.path + ": " + text;
    next();
  };

  /** Ends an upload with the reason, and offers another attempt; other files continue. */
  const fail = (upload, reason) => {
    end(upload, "failed", fill(says.failed, { reason }), [
      [says.again, () => restart(upload)],
      [says.skip, () => skip(upload)],
    ]);
  };

  /** Compares the daemon's checksum with that of the file. */
  const verify = async (upload, shown, text) => {
    upload.forget();
    const [, arrived] = /sha-256=:([^:]+):/.exec(shown) ?? [];
    if (arrived !== undefined) show(upload, "running", says.checking);
    const expected = arrived === undefined ? undefined : await upload.digest;
    if (expected === undefined) return end(upload, "done", text);
    if (expected === arrived) return end(upload, "done", text + ", " + says.verified);
    upload.key = randomKey();
    upload.isNew = true;
    upload.digest = undefined;
    fail(upload, says.differs);
  };

  const isReadable = ({ file }) => file.slice(0, 1).arrayBuffer().then(() => true, () => false);

  /** Tries again after growing pauses, or as soon as the browser is online; fails if the file can no longer be read. */
  const again = (upload) => {
    clearTimeout(upload.stalled);
    if (!running.has(upload)) return;
    show(upload, "running", says.lost, [pauseChoice(upload), [says.skip, () => skip(upload)]]);
    upload.isNew = false;
    upload.go = async () => {
      clearTimeout(upload.timer);
      removeEventListener("online", upload.go);
      const readable = await isReadable(upload);
      if (!running.has(upload)) return;
      if (readable) send(upload, "ask");
      else fail(upload, says.gone);
    };
    addEventListener("online", upload.go);
    upload.timer = setTimeout(upload.go, Math.min(30, 2 ** upload.tries++) * 500);
  };

  /** Ends an upload whose name is taken. */
  const isTaken = (upload) => {
    upload.forget();
    end(
      upload,
      "failed",
      says.taken,
      form.dataset.taken === "ask" ? [[says.replace, () => look(upload)]] : [],
    );
  };

  /** Finds the version to replace; waits while the file has just changed, since its version is uncertain then. */
  const look = (upload) => {
    show(upload, "waiting", says.waiting);
    const request = new XMLHttpRequest();
    request.open("HEAD", addressOf(upload.path));
    request.onerror = () => isTaken(upload);
    request.onload = () => {
      const tag = request.getResponseHeader("ETag");
      if (request.status === 200 && !tag?.startsWith('"')) {
        show(upload, "waiting", says.changing);
        setTimeout(look, 1000, upload);
        return;
      }
      upload.version = request.status === 200 ? tag : undefined;
      restart(upload);
    };
    request.send();
  };

  const addressOf = (path) => form.dataset.to + path.split("/").map(encodeURIComponent).join("/");

  /** Sends a file. @param first First byte to send; "ask" asks how many bytes the service has. */
  const send = (upload, first) => {
    const { file, path, key } = upload;
    const request = new XMLHttpRequest();
    upload.request = request;
    upload.isNew = false;
    // Asks again after a time without progress.
    const moves = (ms = STALL_MS) => {
      clearTimeout(upload.stalled);
      upload.stalled = setTimeout(() => {
        request.abort();
        again(upload);
      }, ms);
    };
    moves(first === "ask" ? CHECKSUM_MS : STALL_MS);
    show(upload, "running", fill(says.progress, { sent: size(upload.at), all: size(file.size) }), [
      pauseChoice(upload),
    ]);
    request.open("PUT", addressOf(path) + "?upload=" + key);
    request.setRequestHeader("Accept", "application/json");
    if (isOwnBrowser) request.setRequestHeader("X-Form-Token", form.dataset.token);
    if (upload.digest !== undefined) request.setRequestHeader("Want-Repr-Digest", "sha-256=10");
    if (form.dataset.taken !== "rename") {
      if (upload.version === undefined) request.setRequestHeader("If-None-Match", "*");
      else request.setRequestHeader("If-Match", upload.version);
    }
    if (first === "ask" || file.size === 0) {
      if (file.size > 0) request.setRequestHeader("Content-Range", "bytes */" + file.size);
    } else {
      request.setRequestHeader("Content-Range", "bytes " + first + "-" + (file.size - 1) + "/" + file.size);
      request.upload.onprogress = ({ loaded, total: whole }) => {
        moves(loaded === whole ? CHECKSUM_MS : STALL_MS);
        const at = Math.min(file.size, first + loaded);
        sentBytes += Math.max(0, at - upload.at);
        upload.bar.value = upload.at = at;
        upload.state.textContent = fill(says.progress, { sent: size(at), all: size(file.size) });
        draw();
      };
    }
    request.onerror = () => again(upload);
    request.ontimeout = () => again(upload);
    request.onload = () => {
      clearTimeout(upload.stalled);
      const { status } = request;
      const offset = Number(request.getResponseHeader("Upload-Offset") ?? NaN);
      if (status === 201 || status === 200) {
        const name = decodeURIComponent(request.getResponseHeader("Upload-Name") ?? "");
        const isOwn = form.dataset.taken !== "rename" || name === path;
        const done = status === 200 ? says.replaced : says.done;
        const digest = request.getResponseHeader("Repr-Digest") ?? "";
        return void verify(upload, digest, isOwn ? done : fill(says.renamed, { name }));
      }
      if (status === 412) {
        upload.version = undefined;
        return isTaken(upload);
      }
      const isAnswer = (status === 202 || status === 409) && offset >= 0 && offset < file.size;
      if (offset > upload.reached) upload.tries = upload.refused = 0;
      else if (!isAnswer || first !== "ask") upload.refused++;
      if (isAnswer && upload.refused < 3) {
        upload.reached = Math.max(upload.reached, offset);
        upload.bar.value = upload.at = offset;
        return send(upload, offset);
      }
      const isTransient = status === 429 || status >= 500 && status !== 507;
      if (isTransient && upload.refused < 3) return again(upload);
      let reason = String(status);
      try {
        const { code, errorMessage } = JSON.parse(request.responseText);
        const isSignedOut = isOwnBrowser && /UNAUTHENTICATED|PAGE_OUTDATED/.test(code);
        reason = isSignedOut ? says.signedOut : errorMessage;
        // A later page must not ask for a file that the service refused.
        if (status < 500 && !isTransient && !isSignedOut && upload.reached === 0) upload.forget();
      } catch {
        // A proxy's page has no further reason.
      }
      fail(upload, reason);
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

  /** Shows what is not uploaded, with the reason. */
  const leave = (path, text, className) => {
    const item = element("li");
    item.append(element("bdi", path), " ", element("span", text, className));
    append(item);
    news.textContent = path + ": " + text;
  };

  /** Adds a dropped file, or all files below a dropped directory; shows what cannot be read or is empty, and continues. */
  const walk = async (entry) => {
    const path = entry.fullPath.replace(/^\//, "");
    try {
      if (entry.isFile) return add(await new Promise((done, failed) => entry.file(done, failed)), path);
      const reader = entry.createReader();
      const part = () => new Promise((done, failed) => reader.readEntries(done, failed));
      let count = 0;
      for (let some = await part(); some.length > 0; some = await part()) {
        count += some.length;
        for (const each of some) await walk(each);
      }
      if (count === 0) leave(path, says.emptyFolder, "quiet");
    } catch {
      leave(path, fill(says.failed, { reason: says.gone }), "down");
    }
  };
  form.onsubmit = (event) => event.preventDefault();
  document.ondragover = (event) => event.preventDefault();
  document.ondrop = async (event) => {
    event.preventDefault();
    // The browser forgets dropped items after the first await, so all are read before.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    for (const entry of entries) await walk(entry);
    next();
  };
  addEventListener("beforeunload", (event) => {
    if (running.size > 0 || (waiting.length > 0 && !isPaused)) event.preventDefault();
  });

  total.append(
    element("span"),
    " ",
    button(says.pauseAll, () => {
      isPaused = !isPaused;
      for (const upload of isPaused ? [...running] : []) {
        stop(upload);
        wait(upload, true);
      }
      next();
    }),
  );
  try {
    const names = unfinished();
    const text = fill(says.chooseAgain, {
      names: names.slice(0, 20).join(", ") + (names.length > 20 ? ", …" : ""),
    });
    if (names.length > 0) form.append(element("p", text, "note"));
  } catch {
    // Without storage, earlier uploads are unknown.
  }
  form.hidden = false;
})();
