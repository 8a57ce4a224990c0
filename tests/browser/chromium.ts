import { delimiter, join } from "node:path";

/** Names under which distributions install Chromium. */
const WHOLE = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Chromium without windows, PDF viewer and back-forward cache: it uses less processor time. */
const SHELL = "chromium-headless-shell";

/** Returns the path of an installed browser, if any, preferably of the one that uses less processor time. */
export function findChromium(): Promise<string | undefined> {
  return find([SHELL, ...WHOLE]);
}

/** Returns the path of an installed browser with all features of users' browsers, if any. */
export function findWholeChromium(): Promise<string | undefined> {
  return find(WHOLE);
}

async function find(names: readonly string[]): Promise<string | undefined> {
  const folders = (Deno.env.get("PATH") ?? "").split(delimiter);
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) return path;
  }
  return undefined;
}

type Params = Readonly<Record<string, unknown>>;

/** Message of the DevTools protocol. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Params;
  readonly error?: { readonly message: string };
}

/** Settings of the browser for a page. */
export interface View {
  /** Width of the window, in CSS pixels. */
  readonly width: number;
  readonly scheme: "light" | "dark";
  /** Answer to a request of the server for credentials; absent: the browser cancels the request. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Preferred language of the reader; default: that of the browser. */
  readonly language?: string;
}

/** Headless browser, controlled by the DevTools protocol. */
export class Chromium implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #socket: WebSocket;
  readonly #profile: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #listeners = new Set<(message: Message & { readonly sessionId?: string }) => void>();
  readonly #profiles = new Set<unknown>();
  #lastId = 0;

  private constructor(process: Deno.ChildProcess, socket: WebSocket, profile: string) {
    this.#process = process;
    this.#socket = socket;
    this.#profile = profile;
    socket.onmessage = ({ data }) => {
      const message: Message = JSON.parse(String(data));
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
      else this.#listeners.forEach((listen) => listen(message));
    };
  }

  /** @param more Further options of its command line. */
  static async start(path: string, more: readonly string[] = []): Promise<Chromium> {
    const profile = await Deno.makeTempDir({ prefix: "authserver-browser-" });
    const process = new Deno.Command(path, {
      args: [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        // Starts no processes for pages that the tests do not use.
        "--disable-features=SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
        "--renderer-process-limit=1",
        "--in-process-gpu",
        ...more,
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const reader = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let output = "";
    for (;;) {
      const { value, done } = await reader.read();
      output += value ?? "";
      const address = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
      if (address !== undefined) {
        void drain(reader);
        const socket = new WebSocket(address);
        await new Promise((open, failed) => Object.assign(socket, { onopen: open, onerror: failed }));
        return new Chromium(process, socket, profile);
      }
      if (done) throw new Error(`the browser did not start: ${output}`);
    }
  }

  /** Opens a page in a new profile, and waits until it is loaded. */
  async open(url: string, { width, scheme, credentials, language }: View): Promise<Page> {
    const { browserContextId } = await this.send("Target.createBrowserContext");
    this.#profiles.add(browserContextId);
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(
      (method, params) => this.send(method, params, String(sessionId)),
      (downloadPath) =>
        this.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath, browserContextId }),
    );
    this.#listeners.add((message) => {
      if (message.sessionId === sessionId) page.hear(message, credentials);
    });
    await page.prepare(width, scheme);
    if (language !== undefined) {
      const { userAgent } = await this.send("Browser.getVersion");
      await page.prefer(language, String(userAgent));
    }
    await page.go(url);
    return page;
  }

  async send(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
    const id = ++this.#lastId;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    const { result, error } = await answer;
    this.#waiting.delete(id);
    if (result === undefined) throw new Error(`${method}: ${error?.message}`);
    return result;
  }

  /** Closes all pages with their profiles. */
  async closePages(): Promise<void> {
    this.#listeners.clear();
    for (const browserContextId of this.#profiles) {
      await this.send("Target.disposeBrowserContext", { browserContextId });
    }
    this.#profiles.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.send("Browser.close").catch(() => {});
    this.#socket.close();
    await this.#process.status;
    await Deno.remove(this.#profile, { recursive: true }).catch(() => {});
  }
}

/** Browser that the tests of a file share one after the other. */
export type SharedBrowser = Pick<Chromium, "open"> & AsyncDisposable;

/** Returns a function that gives the tests of a file one browser, with new pages for each test. */
export function sharedBrowser(path = "", more: readonly string[] = []): () => Promise<SharedBrowser> {
  let started: Promise<Chromium> | undefined;
  Deno.test.afterAll(async () => await (await started)?.[Symbol.asyncDispose]());
  return async () => {
    const browser = await (started ??= Chromium.start(path, more));
    return {
      open: (url, view) => browser.open(url, view),
      [Symbol.asyncDispose]: () => browser.closePages(),
    };
  };
}

/** Open page. */
export class Page {
  readonly #send: (method: string, params?: Params) => Promise<Params>;
  /** Complaints of the browser, such as violations of the content security policy. */
  readonly complaints: string[] = [];
  #loaded: (() => void) | undefined;

  /** @param saveIn Makes the profile save downloads in a folder. */
  constructor(
    send: (method: string, params?: Params) => Promise<Params>,
    readonly saveIn: (folder: string) => Promise<unknown>,
  ) {
    this.#send = send;
  }

  async prepare(width: number, scheme: View["scheme"]): Promise<void> {
    await Promise.all(["Page.enable", "Log.enable", "Runtime.enable"].map((method) => this.#send(method)));
    // Intercepts only documents, not requests of scripts.
    const patterns = [{ resourceType: "Document" }];
    await this.#send("Fetch.enable", { handleAuthRequests: true, patterns });
    await this.show({ width, scheme });
    await this.#send("Emulation.setScrollbarsHidden", { hidden: true });
  }

  /** Sets the reader's language for pages and the server. */
  async prefer(language: string, userAgent: string): Promise<void> {
    await this.#send("Emulation.setUserAgentOverride", { userAgent, acceptLanguage: language });
    await this.#send("Emulation.setLocaleOverride", { locale: language });
  }

  /** Sets whether scripts run from the next page on, including scripts of tests that wait for something. */
  async runScripts(value: boolean): Promise<void> {
    await this.#send("Emulation.setScriptExecutionDisabled", { value: !value });
  }

  /** Ends the sign-ins of the profile. */
  async forgetCookies(): Promise<void> {
    await this.#send("Network.clearBrowserCookies");
  }

  /** Shows the page in another size or scheme. */
  async show({ width, scheme }: Pick<View, "width" | "scheme">): Promise<void> {
    await this.#send("Emulation.setDeviceMetricsOverride", {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await this.#send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
  }

  /** Goes to an address, and waits for the page. */
  async go(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#loaded = resolve);
    await this.#send("Page.navigate", { url });
    await loaded;
  }

  /** Clicks a link with this text, and waits for the page. */
  async follow(text: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#loaded = resolve);
    await this.evaluate(
      `[...document.links].find((link) => link.textContent === ${JSON.stringify(text)}).click()`,
    );
    await loaded;
  }

  /** Fills in fields of a form by their names, and clicks the button with this text, as a user does. */
  async send(button: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#loaded = resolve);
    const [text, values] = [button, fields].map((value) => JSON.stringify(value));
    await this.evaluate(`(() => {
      const button = [...document.querySelectorAll("button")].find((each) => each.textContent === ${text});
      for (const [name, value] of Object.entries(${values})) button.form.elements[name].value = value;
      button.click();
    })()`);
    await loaded;
  }

  /** Returns the value of an expression in the page, which must be JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return typeof result === "object" && result !== null && "value" in result ? result.value : undefined;
  }

  /** Chooses files in an input, as a user does. */
  async choose(selector: string, files: readonly string[]): Promise<void> {
    const expression = `document.querySelector(${JSON.stringify(selector)})`;
    const { result } = await this.#send("Runtime.evaluate", { expression });
    const objectId = typeof result === "object" && result !== null && "objectId" in result
      ? result.objectId
      : "";
    await this.#send("DOM.setFileInputFiles", { files, objectId });
  }

  /** Waits until an expression is true in the page. */
  async until(expression: string): Promise<void> {
    await this.evaluate(`new Promise((resolve) => {
      const look = () => (${expression}) ? resolve(true) : setTimeout(look, 20);
      look();
    })`);
  }

  /** Returns a picture of the whole page as PNG. */
  async screenshot(): Promise<Uint8Array> {
    const { data } = await this.#send("Page.captureScreenshot", { captureBeyondViewport: true });
    return Uint8Array.fromBase64(String(data));
  }

  hear({ method, params = {} }: Message, credentials: View["credentials"]): void {
    const { requestId } = params;
    if (method === "Page.loadEventFired") this.#loaded?.();
    else if (method === "Fetch.requestPaused") void this.#send("Fetch.continueRequest", { requestId });
    else if (method === "Fetch.authRequired") {
      const answer = credentials === undefined
        ? { response: "CancelAuth" }
        : { response: "ProvideCredentials", ...credentials };
      void this.#send("Fetch.continueWithAuth", { requestId, authChallengeResponse: answer });
    } else if (method === "Log.entryAdded" || method === "Runtime.exceptionThrown") {
      this.complaints.push(JSON.stringify(params));
    }
  }
}

async function drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await reader.read()).done);
}
