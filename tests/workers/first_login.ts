/** Creates the service of a configuration as a core does, answers one password login, and prints the status. */
import { createLogger } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createService } from "../../src/service/service.ts";

const [main = "", authorization = ""] = Deno.args;
const { snapshot } = await loadSnapshot(main, { environment: () => undefined });
if (snapshot === undefined) throw new TypeError("the configuration cannot be used");
const service = await createService({ ...snapshot, generation: 1, upSince: Date.now(), port: 9000 }, {
  log: createLogger(() => {}),
});
const { status } = await service.answer({
  method: "GET",
  path: "/rest/auth",
  query: "",
  headers: HeaderList.of({ Accept: "application/json", Authorization: authorization }),
  client: { address: "127.0.0.1" },
  body: null,
}, new AbortController().signal);
await service.close();
console.log(status);
