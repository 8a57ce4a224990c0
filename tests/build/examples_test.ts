/** Tests the examples of containers and automation: their paths, flags, ports and keys exist, the image builds. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { runTool } from "../../bin/build/run_tool.ts";
import { leavesOf } from "../../bin/docs/documented_command.ts";
import { readArguments } from "../../src/command/command.ts";
import { allCommands, runCommand } from "../../src/command/run_command.ts";
import { parseProperties } from "../../src/config/properties.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { createAuthority } from "../pki/authority.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const EXAMPLES = `${ROOT}docs/examples/`;
const read = (path: string) => Deno.readTextFile(EXAMPLES + path);

/** Returns the values of YAML documents, with merge keys; a missing anchor is an error. */
async function yaml(path: string): Promise<unknown[]> {
  return parseAllDocuments(await read(path), { merge: true }).map((document) => {
    assert.deepEqual([...document.errors, ...document.warnings].map(String), [], path);
    return document.toJS();
  });
}

/** Returns the value at a path of member names, each of which must exist. */
function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, name) => {
    assert(typeof inner === "object" && inner !== null && Object.hasOwn(inner, name), `no ${path.join(".")}`);
    return Object.entries(inner).find(([key]) => key === String(name))?.[1];
  }, value);
}

const COMMANDS = await allCommands();

/** Asserts that the program accepts these arguments. */
function assertArguments(args: unknown): void {
  assert(Array.isArray(args) && args.every((arg) => typeof arg === "string"), String(args));
  const words: string[] = args;
  const specs = COMMANDS.flatMap(({ spec }) => leavesOf(spec));
  const spec = specs.find(({ name }) => ` ${words.join(" ")} `.startsWith(` ${name} `));
  assert(spec !== undefined, `no command ${words.join(" ")}`);
  assert.notEqual(readArguments(spec, words.slice(spec.name.split(" ").length)), "help");
}

const containerfile = await read("container/Containerfile");
const properties = await read("container/container.properties");
const keys = new Map(parseProperties(properties, "c").entries.map(({ key, value }) => [key, value]));
const PORT = Number(keys.get("container.port"));

Deno.test("the configuration of the examples is valid with their paths", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const authority = createAuthority({ subject: "CN=Example CA,O=Example" });
    const own = authority.issue({ subject: "CN=auth.example.org,O=Example", names: ["auth.example.org"] });
    await Deno.mkdir(`${folder}/trusted`);
    const files: Record<string, string> = {
      "c.properties": properties.replaceAll("/etc/authserver", folder).replaceAll("/run/secrets", folder),
      "auth-cert.pem": own.certificate,
      "auth-key.pem": own.key,
      "trusted/ca.pem": authority.certificate,
      "database-password": "a password of the database\n",
      "users.txt": await Deno.readTextFile(`${ROOT}conf/users.txt`),
      "mapfile.json": await Deno.readTextFile(`${ROOT}conf/mapfile.json`),
    };
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
    }
    const io = recordedIo();
    assert.equal(await runCommand(["check", "--config", `${folder}/c.properties`], io), 0, io.out + io.err);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the Containerfile runs commands of the program, without root, on the configured port", () => {
  const instruction = (name: string) =>
    new RegExp(`^\\s*${name} (.*(?:\\\\\\n.*)*)$`, "m").exec(containerfile)?.[1] ?? "";
  assert.deepEqual(JSON.parse(instruction("ENTRYPOINT")), ["/usr/bin/authserver"]);
  assertArguments(JSON.parse(/^CMD (\[.*\])$/m.exec(containerfile)?.[1] ?? "[]"));
  const [, health = "[]"] = /^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(containerfile) ?? [];
  const [program, ...args] = JSON.parse(health);
  assert.equal(program, "/usr/bin/authserver");
  assertArguments(args);
  assert.match(instruction("USER"), /^[1-9]\d*:[1-9]\d*$/);
  assert.equal(Number(instruction("EXPOSE")), PORT);
  assert.deepEqual(JSON.parse(instruction("VOLUME")), ["/etc/authserver", "/var/lib/authserver"]);
});

Deno.test("compose.yaml starts instances and balancer consistently with the other examples", async () => {
  const [compose] = await yaml("container/compose.yaml");
  for (const name of ["one", "two"]) {
    const instance = (...path: readonly (string | number)[]) => member(compose, "services", name, ...path);
    assert.equal(instance("read_only"), true);
    assert.equal(instance("user"), "10001:10001");
    assert.equal(instance("volumes", 0), "./conf:/etc/authserver:ro");
    assert.equal(instance("volumes", 1), `${name}:/var/lib/authserver`);
    assert.match(String(instance("tmpfs", 0)), /^\/run\/authserver:/);
    const grace = Number(/^(\d+)s$/.exec(String(instance("stop_grace_period")))?.[1]);
    assert.equal(grace, 60 + Number(keys.get("container.drainSeconds")));
    assert.match(
      await read("container/haproxy.cfg"),
      new RegExp(`^ {2}server ${name} ${name}:${PORT}$`, "m"),
    );
  }
  const secret = keys.get("persistence.passwordFile")?.replace("/run/secrets/", "") ?? "";
  member(compose, "secrets", secret);
  assert.equal(
    member(compose, "services", "database", "environment", "POSTGRES_PASSWORD_FILE"),
    keys.get("persistence.passwordFile"),
  );
  for (const [name, key] of [["POSTGRES_USER", "user"], ["POSTGRES_DB", "database"]] as const) {
    assert.equal(
      member(compose, "services", "database", "environment", name),
      keys.get(`persistence.${key}`),
    );
  }
  member(compose, "services", keys.get("persistence.host") ?? "");
  assert.equal(
    member(compose, "services", "balancer", "networks", "inside", "ipv4_address"),
    keys.get("container.httpServer.proxyProtocol.trustedPeers"),
  );
  assert.equal(member(compose, "services", "balancer", "ports", 0), `${PORT}:${PORT}`);
  const needed = /^(?:#.*\n)+/.exec(await read("container/compose.yaml"))?.[0] ?? "";
  const mounted = member(compose, "services", "balancer", "volumes");
  assert(Array.isArray(mounted));
  for (const volume of mounted) {
    const path = String(volume).split(":")[0]?.replace("./", "") ?? "";
    assert(needed.includes(` ${path},`), `${path} is named among the files that are needed`);
  }
});

Deno.test("haproxy.cfg equals the manual's, with the names of compose.yaml", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/network.md`);
  const [, manual = ""] = /```haproxy\n([^]*?)```/.exec(page) ?? [];
  const own = await read("container/haproxy.cfg");
  const common = (text: string) =>
    text.trim().split("\n").filter((line) => !/^ {2}server /.test(line)).join("\n");
  assert.equal(common(own).replace(" init-addr last,libc,none", ""), common(manual));
});

Deno.test("authserver.yaml mounts the paths that the program reads, and probes paths that it serves", async () => {
  const documents = await yaml("kubernetes/authserver.yaml");
  const kinds = documents.map((document) => member(document, "kind"));
  assert.deepEqual(kinds, ["PersistentVolumeClaim", "Deployment", "Service"]);
  const [claim, deployment, service] = documents;
  const pod = member(deployment, "spec", "template", "spec");
  const container = (...path: readonly (string | number)[]) => member(pod, "containers", 0, ...path);
  assertArguments(container("args"));
  assert.equal(container("ports", 0, "containerPort"), PORT);
  assert.equal(member(service, "spec", "ports", 0, "port"), PORT);
  assert.equal(member(service, "spec", "ports", 0, "targetPort"), container("ports", 0, "name"));
  assert.deepEqual(
    member(service, "spec", "selector"),
    member(deployment, "spec", "selector", "matchLabels"),
  );
  assert.equal(container("securityContext", "readOnlyRootFilesystem"), true);
  assert.equal(container("securityContext", "allowPrivilegeEscalation"), false);
  assert.equal(member(pod, "securityContext", "runAsNonRoot"), true);
  assert.match(containerfile, new RegExp(`^USER ${member(pod, "securityContext", "runAsUser")}:`, "m"));
  const described = JSON.parse(await Deno.readTextFile(`${ROOT}src/service/http/openapi.json`));
  const paths = Object.keys(described.paths);
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
    const path = String(container(probe, "httpGet", "path"));
    assert(paths.includes(path), path);
    assert.equal(container(probe, "httpGet", "scheme"), "HTTPS");
  }
  const [mounts, volumes] = [container("volumeMounts"), member(pod, "volumes")];
  assert(Array.isArray(mounts) && Array.isArray(volumes));
  assert.deepEqual(mounts.map(({ name }) => name).sort(), volumes.map(({ name }) => name).sort());
  assert(mounts.some(({ mountPath }) => mountPath === "/etc/authserver"));
  for (const volume of volumes) {
    if ("secret" in volume) {
      assert.equal(member(volume, "secret", "defaultMode"), 0o440, "no other user reads it");
    }
  }
  const claimed = volumes.find((volume) => "persistentVolumeClaim" in volume);
  assert.equal(member(claimed, "persistentVolumeClaim", "claimName"), member(claim, "metadata", "name"));
});

Deno.test("the Ansible role runs commands of the program, with the paths of the packages", async () => {
  const [tasks] = await yaml("ansible/tasks/main.yml");
  const [handlers] = await yaml("ansible/handlers/main.yml");
  assert(Array.isArray(tasks) && Array.isArray(handlers));
  const named = handlers.map(({ name }) => name);
  const commands: string[] = [];
  for (const task of [...tasks, ...handlers]) {
    const module = Object.keys(task).find((key) => key.startsWith("ansible.builtin.")) ?? "";
    assert(["copy", "command", "systemd"].includes(module.replace("ansible.builtin.", "")), module);
    if (task.notify !== undefined) assert(named.includes(task.notify), task.notify);
    if (module.endsWith("command")) commands.push(String(member(task, module, "cmd")));
  }
  const tmpfiles = await Deno.readTextFile(`${ROOT}conf/authserver.tmpfiles.conf`);
  const [users, others] = ["users.txt", "container.properties"].map((name) =>
    tmpfiles.split("\n").find((line) => line.startsWith(`z /etc/authserver/${name} `))?.split(" ") ?? []
  );
  const copy = tasks.find(({ name }) => name === "Copy the configuration");
  for (const [name, place] of [["mode", 2], ["owner", 3]] as const) {
    assert.equal(
      member(copy, "ansible.builtin.copy", name),
      `{{ '${users?.[place]}' if item | basename == 'users.txt' else '${others?.[place]}' }}`,
      "as systemd-tmpfiles sets it, or each run changes it twice",
    );
  }
  const ours = commands.filter((command) => command.startsWith("authserver "));
  assert.equal(ours.length, 3);
  for (const command of ours) assertArguments(command.split(" ").slice(1));
  assert.equal((await read("ansible/tasks/main.yml")).trim().split("\n").length <= 60, true);
});

const hasBuildah = await runTool("buildah", ["--version"]).then(() => Deno.uid() === 0, () => false);

Deno.test({
  name: "buildah builds the image of the Containerfile, which runs the program without root",
  ignore: !hasBuildah,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "authserver-image-" });
    const env = { BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs" };
    const signal = AbortSignal.timeout(120_000);
    const buildah = (...args: readonly string[]) =>
      runTool("buildah", ["--root", `${folder}/store`, "--runroot", `${folder}/run`, ...args], {
        env,
        signal,
      });
    try {
      // Builds a base image from programs of this system, since the test has no registry.
      for (const program of ["sh", "install", "chmod", "id", "ls"]) {
        await copyProgram(program, `${folder}/base`);
      }
      await Deno.mkdir(`${folder}/base/tmp`);
      await Deno.writeTextFile(`${folder}/Base`, "FROM scratch\nCOPY base/ /\n");
      await buildah("build", "--tag", "base", "--file", `${folder}/Base`, folder);
      await Deno.mkdir(`${folder}/dist`);
      const stub = '#!/bin/sh\necho "$@" >>"$CACHE_DIRECTORY/ran" && id -u\n';
      await Deno.writeTextFile(`${folder}/dist/authserver`, stub);
      const file = `${EXAMPLES}container/Containerfile`;
      const given = [
        "--pull=never",
        "--build-arg",
        "BASE=localhost/base",
        "--format",
        "docker",
        "--file",
        file,
      ];
      await buildah("build", ...given, "--tag", "authserver", folder);
      const { Docker: { config } } = JSON.parse(await buildah("inspect", "--type", "image", "authserver"));
      assert.equal(config.User, "10001:10001");
      assert.deepEqual(config.Healthcheck.Test.slice(0, 3), ["CMD", "/usr/bin/authserver", "status"]);
      const container = (await buildah("from", "--pull=never", "localhost/authserver")).trim();
      assert.equal(await buildah("run", container, "--", "/usr/bin/authserver", "serve"), "10001\n");
      const listed = await buildah(
        "run",
        container,
        "--",
        "ls",
        "-ldn",
        "/var/lib/authserver",
        "/opt/authserver/ran",
      );
      assert.equal(listed.match(/ 10001 +10001 /g)?.length, 2, listed);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/** Copies a program of this system with its libraries below a folder. */
async function copyProgram(name: string, root: string): Promise<void> {
  const path = (await runTool("which", [name])).trim();
  const libraries = (await runTool("ldd", [path])).match(/\/[^\s)]+/g) ?? [];
  const places = new Map([...libraries.map((file) => [file, file] as const), [path, `/usr/bin/${name}`]]);
  if (name === "sh") places.set(`${path}`, "/bin/sh");
  for (const [from, to] of places) {
    await Deno.mkdir(join(root, to, ".."), { recursive: true });
    await Deno.copyFile(from, join(root, to));
  }
}
