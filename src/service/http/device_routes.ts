import type { DevicePageParts } from "../../pages/device_page.ts";
import { DEVICE_PATHS } from "../../resource/device_paths.ts";
import { FORM_TYPE, type Route } from "./router.ts";

// Imported when they are first asked for, as all pages.
const resource = () => import("../../resource/device_login.ts");
const pages = () => import("../../pages/device_page.ts");

/** Returns the routes of device logins (RFC 8628): endpoints for programs, and the page for their users. */
export function deviceRoutes(parts: DevicePageParts): Route[] {
  const program = { service: "open" } as const;
  const page = {
    service: "auth",
    permission: "POST",
    signedIn: true,
    failed: async (failure, asked) =>
      (await import("../../pages/sign_in_page.ts")).toSignIn(
        failure,
        asked,
        (await pages()).devicePageOf(asked.query),
      ),
  } as const satisfies Partial<Route>;
  const form = { ...page, method: "POST", consumes: FORM_TYPE } as const;
  const { begin, token, script, page: path } = DEVICE_PATHS;
  return [
    // Programs send these forms, so no page of ours has to.
    {
      ...program,
      method: "POST",
      path: begin,
      answer: async (call) =>
        (await resource()).beginDeviceLogin(call, parts, (await import("../../pages/qr_picture.ts")).qrText),
    },
    {
      ...program,
      method: "POST",
      path: token,
      answer: async (call) => (await resource()).pollDeviceLogin(call, parts),
    },
    {
      ...program,
      method: "GET",
      path: script,
      answer: async (call) => (await resource()).loginScript(call, parts.servers.keys()),
    },
    { ...page, method: "GET", path, answer: async (call) => (await pages()).devicePage(call, parts) },
    { ...form, path, answer: async (call) => (await pages()).showDeviceLogin(call, parts) },
    {
      ...form,
      path: `${path}/allow`,
      audit: "token",
      answer: async (call) => (await pages()).decideDeviceLogin(call, parts, true),
    },
    {
      ...form,
      path: `${path}/deny`,
      answer: async (call) => (await pages()).decideDeviceLogin(call, parts, false),
    },
  ];
}
