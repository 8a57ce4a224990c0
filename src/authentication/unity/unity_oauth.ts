import { tokenDiagnostic } from "../foreign_token.ts";
import { tokenForProvider } from "../provider_token.ts";
import type { UnityConfig } from "./keys.ts";
import { Unity, type UnityParts } from "./unity.ts";

/** UNITY-OAUTH: forwards bearer tokens to a Unity provider. */
export function unityOAuth(config: UnityConfig, parts: UnityParts): Unity {
  return new Unity(config, parts, ["Bearer"], (credentials) => {
    const token = tokenForProvider(credentials, { bound: false });
    if (typeof token !== "string") return token;
    const diagnostic = () => tokenDiagnostic(token, { opaque: true });
    return { key: [token], authorization: `Bearer ${token}`, diagnostic };
  });
}
