/** Runs the service as `authserver serve` does, with one second to stop. Argument: configuration file. */
import { startService } from "../../src/command/serving/running_service.ts";
import { CONSOLE } from "../../src/logging/log_file.ts";
import { ServiceManager } from "../../src/command/serving/service_manager.ts";

const [file = ""] = Deno.args;
const service = await startService(file, (diagnostic) => console.error(diagnostic), {
  manager: Object.assign(new ServiceManager(), { stopMs: 1_000 }),
});
Deno.addSignalListener("SIGTERM", service.stop);
await service.stopped;
await CONSOLE.flush();
Deno.exit(0); // as main.ts does
