import type { Authenticator } from "../../authentication/authenticator.ts";
import type { RequestObserver } from "../request_observer.ts";

/** Wraps an authenticator to count its results, except skipped credentials. */
export function observed(authenticator: Authenticator, observer: RequestObserver): Authenticator {
  const { name, challenges, issuer } = authenticator;
  const status = authenticator.status?.bind(authenticator);
  return {
    name,
    challenges,
    browserLogin: authenticator.browserLogin,
    looksAtCertificates: authenticator.looksAtCertificates,
    issuer,
    status,
    derivedLifetime: authenticator.derivedLifetime,
    accountStatusOf: authenticator.accountStatusOf?.bind(authenticator),
    namesOf: authenticator.namesOf?.bind(authenticator),
    lists: authenticator.lists?.bind(authenticator),
    certificates: authenticator.certificates,
    close: () => authenticator.close(),
    async authenticate(credentials, signal) {
      try {
        const result = await authenticator.authenticate(credentials, signal);
        if (result.kind !== "skipped") observer.authenticated(name, result.kind);
        return result;
      } catch (error) {
        if (!signal.aborted) observer.authenticated(name, "unavailable");
        throw error;
      }
    },
  };
}
