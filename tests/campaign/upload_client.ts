/** Clients that upload files to shares: each with one key, to two instances at once, until it is stored. */
import { ALICE } from "../system/running_service.ts";
import { EVERYBODY } from "../system/sharing/sharing_system.ts";
import type { Surroundings } from "./campaign.ts";
import { checkDrop, type DropPast, type DropRow } from "./history.ts";
import type { Draw } from "./faults.ts";

const MOST_FILES = 3;
const SIZE = 12; // bytes of each file
const QUOTA_USED = 507;
/** Attempts of a client at a file before it continues with another. */
const TRIES = 4;

export class UploadClient {
  readonly #drops: (DropPast & { readonly folder: string })[] = [];

  constructor(readonly surroundings: Surroundings) {}

  get count(): number {
    return this.#drops.reduce((sum, { files }) => sum + files.length, 0);
  }

  async step(draw: Draw): Promise<void> {
    let drop = this.#drops.at(-1);
    if (drop === undefined || drop.files.length > 2 * MOST_FILES) drop = await this.#share(draw);
    if (drop === undefined) return;
    const key = crypto.randomUUID().replaceAll("-", "").slice(0, 30);
    const file = { key, content: key.slice(0, SIZE), outcomes: new Array<number | "cut">() };
    drop.files.push(file);
    for (let tries = 0; tries < TRIES && !isDecided(file); tries++) await this.#upload(drop, file, draw);
  }

  /** Uploads undecided files again, and compares the stored files. */
  async finish(draw: Draw, rowOf: (id: string) => Promise<DropRow>): Promise<readonly string[]> {
    const found: string[] = [];
    for (const drop of this.#drops) {
      for (const file of drop.files) {
        for (let tries = 0; tries < 10 && !isDecided(file); tries++) await this.#upload(drop, file, draw);
      }
      const contents = new Map<string, string>();
      for await (const { name } of Deno.readDir(drop.folder)) {
        if (!name.endsWith(".part")) contents.set(name, await Deno.readTextFile(`${drop.folder}/${name}`));
      }
      found.push(...checkDrop(drop, contents, await rowOf(drop.id)));
    }
    return found;
  }

  async #share(draw: Draw) {
    const { instance, instances, ask, data } = this.surroundings;
    const name = crypto.randomUUID().slice(0, 8);
    const folder = `${data}/d/${name}`;
    await Deno.mkdir(folder);
    const limits = { maxFiles: MOST_FILES, maxBytes: MOST_FILES * SIZE };
    const body = { path: `${folder}/`, user: EVERYBODY, access: "DROP", ...limits };
    const reply = await ask(instance(draw(instances)), "/rest/share/HPC", { as: ALICE, body });
    if (reply?.status !== 201) return undefined;
    const id = String(reply.headers.location).split("/").at(-1) ?? "";
    const drop = { id, folder, mostFiles: MOST_FILES, mostBytes: MOST_FILES * SIZE, files: [] };
    this.#drops.push(drop);
    return drop;
  }

  async #upload({ id }: DropPast, file: DropPast["files"][number], draw: Draw): Promise<void> {
    const { instance, instances, ask } = this.surroundings;
    const path = `/rest/access/HPC/${id}/file.txt?upload=${file.key}`;
    const first = draw(instances);
    const replies = await Promise.all(
      [first, (first + 1 + draw(2)) % instances].map((number) =>
        ask(instance(number), path, { method: "PUT", body: file.content })
      ),
    );
    for (const reply of replies) file.outcomes.push(reply?.status ?? "cut");
  }
}

function isDecided({ outcomes }: DropPast["files"][number]): boolean {
  return outcomes.some((outcome) => outcome === 201 || outcome === QUOTA_USED);
}
