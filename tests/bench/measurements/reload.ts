import { publicKeyWords } from "../../authentication/ssh_key/user_keys.ts";
import { ALICE_DN } from "../../system/running_service.ts";
import { startBenchSite } from "../bench_site.ts";
import type { Measurement } from "../figure.ts";
import { StallWatch } from "../stall_watch.ts";

const KEYS = 100_000;
const TIMES = 3;
/** For each time: until the change is seen, read and taken over. */
const EACH_MS = 12_000;

export const reload: Measurement = {
  name: "reload",
  summary: "A keys file of 100,000 users changes under a running service",
  async run() {
    await using bench = await startBenchSite();
    const [type, blob] = publicKeyWords("user_ed25519");
    const stalls = new StallWatch(bench.site);
    try {
      for (let time = 0; time < TIMES; time++) {
        const lines = Array.from(
          { length: KEYS },
          (_, i) => `user${i}:${type} ${blob}:CN=User ${i} ${time}\n`,
        );
        await bench.site.replace("conf/ssh-keys.txt", `alice:${type} ${blob}:${ALICE_DN}\n${lines.join("")}`);
        await new Promise((resolve) => setTimeout(resolve, EACH_MS));
      }
    } finally {
      stalls.close();
    }
    const value = stalls.longestMs("core");
    return [{ what: "longest stall of the core", value, unit: "ms", target: { atMost: 100 } }];
  },
};
