import type { Authenticator } from "../../authentication/authenticator.ts";
import type { RequestObserver } from "../request_observer.ts";

/** A method of authentication whose outcomes are counted; credentials of other kinds are not. */
export function observed(method: Authenticator, observer: RequestObserver): Authenticator {
  const { name, challenges, issuer } = method;
  const status = method.status?.bind(method);
  return {
    name,
    challenges,
    browserLogin: method.browserLogin,
    looksAtCertificates: method.looksAtCertificates,
    issuer,
    status,
    derivedLifetime: method.derivedLifetime,
    standingOf: method.standingOf?.bind(method),
    namesOf: method.namesOf?.bind(method),
    lists: method.lists?.bind(method),
    certificates: method.certificates,
    close: () => method.close(),
    async authenticate(credentials, signal) {
      try {
        const verdict = await method.authenticate(credentials, signal);
        if (verdict.kind !== "skipped") observer.authenticated(name, verdict.kind);
        return verdict;
      } catch (error) {
        if (!signal.aborted) observer.authenticated(name, "unavailable");
        throw error;
      }
    },
  };
}
