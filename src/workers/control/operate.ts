import type { Ban, BanSubject } from "../../throttling/ban.ts";
import { ask, NoAnswer } from "../desk_link.ts";
import { serviceStatus, type StatusParts } from "../service_status.ts";
import type { ControlRequest } from "./control_request.ts";
import { ControlFailed, type Operate } from "./control_socket.ts";

/** Longest wait for the core, in milliseconds. */
const CORE_MS = 5000;
/** The same where it has to ask daemons, one after the other. */
const DAEMONS_MS = 35_000;

/** What the operator's commands work on. */
export interface OperatedParts extends StatusParts {
  /** Reads the configuration again, until that is done; {@link Supervisor.reloads} then tells how it ended. */
  readonly reload: () => Promise<void>;
}

/** Carries out what the operator's commands ask for; what changes something leaves an audit line. */
export function operateOn(parts: OperatedParts): Operate {
  return async (request) => {
    try {
      return await operate(request, parts);
    } catch (error) {
      throw error instanceof NoAnswer ? new ControlFailed(error.message, { cause: error }) : error;
    }
  };
}

async function operate(request: ControlRequest, parts: OperatedParts): Promise<unknown> {
  const { supervisor } = parts;
  switch (request.command) {
    case "status":
      return await serviceStatus(parts);
    case "reload":
      await parts.reload();
      return { ...supervisor.reloads.last, generation: supervisor.generation };
    case "ban list": {
      const { bans, total } = await ask(supervisor, { about: "bans" }, CORE_MS);
      return { bans: bans.map(withMoment), total };
    }
    case "ban add": {
      const { subject, seconds, operator } = request;
      const until = Date.now() + seconds * 1000;
      const { user } = subject;
      const { names, reversed } = user === undefined
        ? { names: undefined, reversed: undefined }
        : (await ask(supervisor, { about: "names", user }, CORE_MS)).names;
      const banned = { ...subject, names };
      const { unaware } = await ask(supervisor, { about: "ban", subject: banned, until }, CORE_MS);
      supervisor.log.warn("banned by the operator", { ...subject, seconds, operator });
      const moment = new Date(until).toISOString();
      supervisor.reports.audit({
        event: "ban",
        decision: "granted",
        ...subjectFacts(subject),
        operator,
        until: moment,
      });
      return {
        until: moment,
        names,
        reversed,
        unaware,
      };
    }
    case "ban remove": {
      const { subject, operator } = request;
      const { lifted } = await ask(supervisor, { about: "lift", subject }, CORE_MS);
      if (lifted === 0) return { lifted }; // nothing was done
      supervisor.log.warn("bans lifted by the operator", { ...subject, lifted, operator });
      supervisor.reports.audit({
        event: "lift",
        decision: "granted",
        ...subjectFacts(subject),
        operator,
      });
      return { lifted };
    }
    case "token list": {
      const { tokens } = await ask(supervisor, { about: "tokens", user: request.user }, CORE_MS);
      return { tokens: kept(tokens) };
    }
    case "token revoke":
      return await revoke(request, parts);
    case "user show":
      return (await ask(supervisor, { about: "user", uid: request.uid }, DAEMONS_MS)).accounts;
  }
}

async function revoke(
  { user, id, operator }: ControlRequest & { readonly command: "token revoke" },
  { supervisor }: OperatedParts,
): Promise<unknown> {
  const revoked = kept((await ask(supervisor, { about: "revoke", user, id }, CORE_MS)).revoked);
  const { ended, names } = revoked;
  if (names.length === 0 || (id !== undefined && ended === 0)) return revoked; // nothing was done
  supervisor.log.warn("operator revoked tokens", { user, id, ended, operator });
  supervisor.reports.audit({ event: "revoke", decision: "granted", user, token: id, ended, operator });
  return revoked;
}

/** @throws {ControlFailed} */
function kept<T>(found: T | undefined): T {
  if (found !== undefined) return found;
  throw new ControlFailed("The service keeps no list of its tokens: expected persistence.directory");
}

function withMoment({ until, ...ban }: Ban) {
  return { ...ban, until: new Date(until).toISOString() };
}

function subjectFacts({ user, address }: BanSubject) {
  return { user, address };
}
