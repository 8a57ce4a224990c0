/** Paths of device logins (RFC 8628) below the service's root. */
export const DEVICE_PATHS = {
  page: "/login/device",
  begin: "/oauth/device",
  token: "/oauth/token",
  script: "/login.sh",
} as const;
