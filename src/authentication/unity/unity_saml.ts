import { Buffer } from "node:buffer";
import type { UnityConfig } from "./keys.ts";
import { Unity, type UnityParts } from "./unity.ts";

/** UNITY: forwards user name and password to a Unity provider. */
export function unitySaml(config: UnityConfig, parts: UnityParts): Unity {
  return new Unity(config, parts, ["Basic"], ({ authorization }) => {
    if (authorization.kind !== "basic") return { kind: "skipped" };
    const { user } = authorization;
    const password = authorization.password.reveal();
    // LDAP servers may take an empty password for an anonymous login.
    if (user === "" || password === "") return { kind: "refused", reason: "user name or password is empty" };
    const encoded = Buffer.from(`${user}:${password}`, "utf8").toString("base64");
    return { key: [user, password], authorization: `Basic ${encoded}` };
  });
}
