/** Systems that the service runs on, as `deno compile --target` names them, with what packages call them. */
export const TARGETS = {
  "x86_64-unknown-linux-gnu": { runtimePackage: "@deno/linux-x64-glibc", debian: "amd64", rpm: "x86_64" },
  "aarch64-unknown-linux-gnu": { runtimePackage: "@deno/linux-arm64-glibc", debian: "arm64", rpm: "aarch64" },
} as const;

/** One of {@link TARGETS}. */
export type Target = keyof typeof TARGETS;

/** Whether a text names a system that the service runs on. */
export function isTarget(name: string): name is Target {
  return Object.hasOwn(TARGETS, name);
}
