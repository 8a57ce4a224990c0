import type { Measurement } from "../figure.ts";
import { accessTokens } from "./access_tokens.ts";
import { connections } from "./connections.ts";
import { footprint } from "./footprint.ts";
import { connectionsWithLogin, freshTokens, password, token } from "./get.ts";
import { daemons, users } from "./growth.ts";
import { instances } from "./instances.ts";
import { ldapLogins } from "./ldap_logins.ts";
import { reload } from "./reload.ts";
import { hostileMemory } from "./hostile_memory.ts";
import { hostileHeads } from "./hostile_heads.ts";
import { logCost } from "./log_cost.ts";
import { reloadTime } from "./reload_time.ts";
import { sessions } from "./sessions.ts";
import { shareDownload } from "./share_download.ts";
import { shareUpload } from "./share_upload.ts";
import { shares } from "./shares.ts";
import { slowClients } from "./slow_clients.ts";
import { smallFiles } from "./small_files.ts";
import { soak } from "./soak.ts";
import { transferMemory } from "./transfer_memory.ts";
import { unpacking } from "./unpacking.ts";
import { zipStream } from "./zip_stream.ts";

/** All measurements, in the order of the page. */
export const ALL: readonly Measurement[] = [
  password,
  token,
  logCost,
  freshTokens,
  accessTokens,
  ldapLogins,
  sessions,
  connections,
  connectionsWithLogin,
  slowClients,
  hostileMemory,
  hostileHeads,
  shareDownload,
  shareUpload,
  zipStream,
  smallFiles,
  transferMemory,
  footprint,
  unpacking,
  soak,
  reload,
  reloadTime,
  daemons,
  users,
  shares,
  instances,
];
