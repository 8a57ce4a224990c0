import { once } from "node:events";
import { SMTPServer } from "smtp-server";
import type { Credential } from "../pki/authority.ts";

/** Message that a relay accepted. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly encrypted: boolean;
  readonly text: string;
}

/** Refusal of a relay; with `silence`, the relay does not answer. */
export type Refusal = { readonly at: "login" | "recipient" | "message"; readonly code: number | "silence" };

/** Mail relay on loopback, by npm `smtp-server`. */
export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly TakenMail[];
  refusal: Refusal | undefined;
  /** Whether the relay accepts messages, but closes the connection before its answer. */
  losesAnswers: boolean;
}

/** Starts a relay. @param options.credential For TLS. @param options.login The only user, with the password. */
export async function startMailServer(
  { credential, secure = false, login }: {
    readonly credential?: Credential;
    readonly secure?: boolean;
    readonly login?: { readonly user: string; readonly password: string };
  } = {},
): Promise<MailServer> {
  const mails: TakenMail[] = [];
  const state: { refusal: Refusal | undefined; losesAnswers: boolean } = {
    refusal: undefined,
    losesAnswers: false,
  };
  const answer = (at: Refusal["at"], callback: (error?: Error) => void) => {
    const { refusal } = state;
    if (refusal?.at !== at) return callback();
    if (refusal.code === "silence") return;
    callback(Object.assign(new Error("not this one"), { responseCode: refusal.code }));
  };
  const server = new SMTPServer({
    secure,
    key: credential?.key,
    cert: credential?.certificate,
    authOptional: login === undefined,
    disabledCommands: credential === undefined ? ["STARTTLS"] : [],
    closeTimeout: 1,
    logger: false,
    onAuth({ username, password }, _session, callback) {
      const isRight = username === login?.user && password === login?.password;
      answer(
        "login",
        (error) =>
          isRight && !error ? callback(null, { user: username }) : callback(error ?? new Error("wrong")),
      );
    },
    onRcptTo: (_address, _session, callback) => answer("recipient", callback),
    onData(stream, { envelope, user, secure }, callback) {
      let text = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => text += chunk);
      stream.on("end", () =>
        answer("message", (error) => {
          if (error) return callback(error);
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          const to = envelope.rcptTo.map(({ address }) => address);
          mails.push({ from, to, user, encrypted: secure, text });
          if (!state.losesAnswers) return callback();
          for (const connection of server.connections) connection._socket.destroy();
        }));
    },
  });
  server.on("error", () => {}); // connections that clients give up
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const address = server.server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    mails,
    get refusal() {
      return state.refusal;
    },
    set refusal(refusal) {
      state.refusal = refusal;
    },
    get losesAnswers() {
      return state.losesAnswers;
    },
    set losesAnswers(loses) {
      state.losesAnswers = loses;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
