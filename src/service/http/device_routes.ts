import { qrText } from "../../pages/qr_picture.ts";
import { toSignIn } from "../../pages/sign_in_page.ts";
import {
  decideDeviceLogin,
  devicePage,
  devicePageOf,
  type DevicePageParts,
  showDeviceLogin,
} from "../../pages/device_page.ts";
import { beginDeviceLogin, DEVICE_PATHS, loginScript, pollDeviceLogin } from "../../resource/device_login.ts";
import { FORM_TYPE, type Route } from "./router.ts";

/** Returns the routes of device logins (RFC 8628): endpoints for programs, and the page for their users. */
export function deviceRoutes(parts: DevicePageParts): Route[] {
  const program = { service: "open" } as const;
  const page = {
    service: "auth",
    permission: "POST",
    signedIn: true,
    failed: (failure, asked) => toSignIn(failure, asked, devicePageOf(asked.query)),
  } as const satisfies Partial<Route>;
  const form = { ...page, method: "POST", consumes: FORM_TYPE } as const;
  const { begin, token, script, page: path } = DEVICE_PATHS;
  return [
    // Programs send these forms, so no page of ours has to.
    { ...program, method: "POST", path: begin, answer: (call) => beginDeviceLogin(call, parts, qrText) },
    { ...program, method: "POST", path: token, answer: (call) => pollDeviceLogin(call, parts) },
    { ...program, method: "GET", path: script, answer: (call) => loginScript(call, parts.servers.keys()) },
    { ...page, method: "GET", path, answer: (call) => devicePage(call, parts) },
    { ...form, path, answer: (call) => showDeviceLogin(call, parts) },
    {
      ...form,
      path: `${path}/allow`,
      audit: "token",
      answer: (call) => decideDeviceLogin(call, parts, true),
    },
    { ...form, path: `${path}/deny`, answer: (call) => decideDeviceLogin(call, parts, false) },
  ];
}
