/**
 * Sessions per second at one real UFTPD: by three instances together, and by one alone. UFTPD serves one
 * command at a time and drops connections beyond its short backlog. `UFTPD_CHECKOUT` names its checkout.
 */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { runWrk } from "../bench/wrk.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { sessionAccount, startUftpd } from "../real/uftpd.ts";
import { ALICE, ALICE_DN } from "./running_service.ts";
import { type Instance, SeveralInstances } from "./several_instances.ts";

const CHECKOUT = Deno.env.get("UFTPD_CHECKOUT");
if (CHECKOUT === undefined) {
  console.warn("UFTPD_CHECKOUT is not set: the rate at a real daemon is not measured");
}

const ROUNDS = 7;
const SECONDS = 4;
/** Number of concurrent requests over all instances. */
const AT_ONCE = 12;
/** Promised fraction of the rate of one instance. */
const PROMISED = 0.9;

/** Returns the sessions per second that these instances open together. */
async function rateOf(instances: readonly Instance[]): Promise<number> {
  const all = await Promise.all(instances.map(({ port }) =>
    runWrk({
      url: `https://localhost:${port}/rest/auth/HPC`,
      connections: AT_ONCE / instances.length,
      seconds: SECONDS,
      headers: { Authorization: `Basic ${btoa(ALICE.join(":"))}` },
      body: '{"serverPath":""}',
    })
  ));
  const failures = all.reduce((sum, { failures }) => sum + failures, 0);
  assert.equal(failures, 0, all.map(({ said }) => said).join("\n"));
  return all.reduce((sum, { rate }) => sum + rate, 0);
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;
}

/** Starts further instances, with a separate database, in front of this daemon. */
async function startAt(
  several: SeveralInstances,
  count: number,
  commandPort: number,
): Promise<readonly Instance[]> {
  const database = await several.server.database();
  const started: Instance[] = [];
  for (let i = 0; i < count; i++) {
    const instance = await several.startInstance(several.instances.length, {
      "authservice.server.HPC.commandHost": "127.0.0.1",
      "authservice.server.HPC.commandPort": String(commandPort),
      "persistence.database": database,
    });
    several.instances.push(instance);
    started.push(instance);
  }
  const known = `{"total":${count},"serving":${count}}`;
  for (const instance of started) {
    await until(async () =>
      JSON.stringify((await instance.ask("/health/ready")).json()["instances"]) === known
    );
    const opens = async () =>
      (await instance.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } })).status === 200;
    await until(opens);
  }
  return started;
}

Deno.test({
  name: "three instances together open 0.9 times as many sessions a second at a real daemon as one",
  ignore: POSTGRES === undefined || CHECKOUT === undefined,
}, async () => {
  await using several = await SeveralInstances.start({ instances: 0 });
  const { site: { authority, folder, replace } } = several;
  const shown = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });
  const files = {
    "uftpd.pem": shown.certificate,
    "uftpd.key": shown.key,
    "uftpd.acl": "CN=AUTH,O=Demo,C=EU\n",
    "ssl.conf": `credential.key=${folder}/uftpd.key\ncredential.certificate=${folder}/uftpd.pem\n` +
      `truststore=${folder}/conf/ca.pem\n`,
    "conf/mapfile.json": JSON.stringify({ [ALICE_DN]: { role: "user", xlogin: sessionAccount().username } }),
  };
  for (const [name, text] of Object.entries(files)) await replace(name, text);
  await using daemon = await startUftpd(CHECKOUT ?? "", {
    folder,
    settings: { SSL_CONF: `${folder}/ssl.conf`, ACL: `${folder}/uftpd.acl`, MAX_CONNECTIONS: "1000000" },
  });
  const one = await startAt(several, 1, daemon.commandPort);
  const three = await startAt(several, 3, daemon.commandPort);
  for (const instances of [one, three]) await rateOf(instances); // warms up
  const rounds: { readonly one: number; readonly three: number }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const first = await rateOf(i % 2 === 0 ? one : three);
    const second = await rateOf(i % 2 === 0 ? three : one);
    rounds.push(i % 2 === 0 ? { one: first, three: second } : { one: second, three: first });
    console.log(rounds.at(-1));
  }
  const ratio = median(rounds.map(({ one, three }) => three / one));
  note("instances", {
    trial: "sessions a second at one UFTPD by three instances together",
    done:
      `${ROUNDS} rounds of ${SECONDS} s in turn with one instance alone, ${AT_ONCE} requests at once; medians`,
    outcome: `${ratio.toFixed(2)} × those of one (${
      median(rounds.map(({ three }) => three)).toFixed(0)
    } of ` +
      `${median(rounds.map(({ one }) => one)).toFixed(0)} a second); none failed`,
  });
  assert.ok(ratio >= PROMISED, `${ratio} of the rate of one`);
});
