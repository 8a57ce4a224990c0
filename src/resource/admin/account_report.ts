import { parseKeyLine } from "../../authentication/ssh_key/authorized_keys.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { isAccountName } from "../../model/account_name.ts";
import { HttpError } from "../../model/http_error.ts";
import { trimEndCharacters } from "../../model/text.ts";

/** Daemons' replies about an account. */
export interface AccountReport {
  readonly server: string;
  readonly state: "known" | "unknown" | "failed";
  readonly home?: string;
  readonly keys?: readonly KeyReport[];
  readonly reason?: string; // why the daemons could not be asked
}

interface KeyReport {
  readonly type?: string;
  readonly fingerprint?: string; // as `ssh-keygen -l` shows it
  readonly reason?: string; // reason why the key is unusable
}

/** Asks the daemons of a logical server about an account. @param uid As the operator typed it. */
export async function accountReport(
  group: DaemonGroup,
  uid: string,
  signal: AbortSignal,
): Promise<AccountReport> {
  const { name: server } = group;
  if (!isAccountName(uid)) return { server, state: "failed", reason: "that is no account name" };
  try {
    const info = await group.userInfo(uid, signal);
    if (info.kind === "unknown") return { server, state: "unknown" };
    return { server, state: "known", home: info.home, keys: info.keyLines.flatMap(keyReport) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { server, state: "failed", reason: error.message };
  }
}

function keyReport(line: string): KeyReport[] {
  const parsed = parseKeyLine(line);
  switch (parsed.kind) {
    case "empty":
      return [];
    case "refused":
      return [{ reason: parsed.reason }];
    case "key": {
      const { type, fingerprint } = parsed.key.publicKey;
      return [{ type, fingerprint: `SHA256:${trimEndCharacters(fingerprint, "=")}` }];
    }
  }
}
