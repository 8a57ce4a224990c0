import { isDeepStrictEqual } from "node:util";
import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import type { AuthenticationChain } from "../../authentication/chain.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { describeError } from "../../logging/logger.ts";
import type { AttributeSet } from "../../model/attributes.ts";
import type { Identity } from "../../model/identity.ts";
import type { AuthenticatorStep, SourceStep } from "./explanation.ts";

/** Recorder of authentication and attribute decisions around unchanged chains. */
export class DecisionRecord {
  readonly authenticators: AuthenticatorStep[] = [];
  readonly sources: SourceStep[] = [];
  #known: readonly string[] = [];
  #identity: Identity | undefined;

  /** Wraps a chain to record each result. */
  chain(chain: AuthenticationChain): AuthenticationChain {
    const { issuedTokens, authenticators } = chain;
    this.#known = [...issuedTokens ? [issuedTokens] : [], ...authenticators].map(({ name }) => name);
    return {
      ...chain,
      issuedTokens: issuedTokens && this.#observed(issuedTokens),
      authenticators: authenticators.map((authenticator) => this.#observed(authenticator)),
    };
  }

  /** Records authenticators that were not reached. */
  endAuthenticators(): void {
    for (const authenticator of this.#known.slice(this.authenticators.length)) {
      this.authenticators.push({ authenticator, outcome: "not asked" });
    }
  }

  readonly answer: NonNullable<SourceParts["onAnswer"]> = (source, identity, answer) => {
    // The second call is for callers without the account proven on some servers only.
    this.#identity ??= identity;
    const entry = source.originOf?.(identity);
    const step: SourceStep = {
      source: source.name,
      entry,
      ...(answer instanceof Error ? { failure: describeError(answer) } : { attributes: valuesOf(answer) }),
    };
    const elsewhere = identity !== this.#identity;
    if (elsewhere && this.sources.some((earlier) => isDeepStrictEqual(earlier, step))) return;
    this.sources.push(elsewhere ? { ...step, elsewhere } : step);
  };

  #observed(authenticator: Authenticator): Authenticator {
    const { name, challenges, issuer, looksAtCertificates } = authenticator;
    return {
      name,
      challenges,
      issuer,
      looksAtCertificates,
      authenticate: async (credentials, signal) => {
        try {
          const result = await authenticator.authenticate(credentials, signal);
          const reason = "reason" in result ? { reason: result.reason } : {};
          this.authenticators.push({ authenticator: name, outcome: result.kind, ...reason });
          return result;
        } catch (error) {
          this.authenticators.push({ authenticator: name, outcome: "failed", reason: describeError(error) });
          throw error;
        }
      },
      close: () => authenticator.close(),
    };
  }
}

function valuesOf({ standard, extra }: AttributeSet): { readonly [name: string]: readonly string[] } {
  return Object.fromEntries([
    ...[...standard].map(([name, { allowed, preferred }]) =>
      [name, [...new Set([...preferred, ...allowed])]] as const
    ),
    ...extra,
  ]);
}
