import startScript from "../../../../bin/authserver-start.sh" with { type: "text" };
import statusScript from "../../../../bin/authserver-status.sh" with { type: "text" };
import stopScript from "../../../../bin/authserver-stop.sh" with { type: "text" };
import launchSettings from "../../../../bin/launch-settings.sh" with { type: "text" };
import fail2banFilter from "../../../../conf/authserver.fail2ban-filter.conf" with { type: "text" };
import fail2banJail from "../../../../conf/authserver.fail2ban-jail.conf" with { type: "text" };
import logrotate from "../../../../conf/authserver.logrotate" with { type: "text" };
import unit from "../../../../conf/authserver.service" with { type: "text" };
import sysusers from "../../../../conf/authserver.sysusers.conf" with { type: "text" };
import tmpfiles from "../../../../conf/authserver.tmpfiles.conf" with { type: "text" };
import properties from "../../../../conf/container.properties" with { type: "text" };
import mapFile from "../../../../conf/mapfile.json" with { type: "text" };
import keysFile from "../../../../conf/ssh-keys.txt" with { type: "text" };
import startupProperties from "../../../../conf/startup.properties" with { type: "text" };
import trustedReadme from "../../../../conf/trusted/README.txt" with { type: "text" };
import passwordFile from "../../../../conf/users.txt" with { type: "text" };

export interface SampleFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
}

const PUBLIC = 0o644;

/** Files of an installation in its own folder. The first has paths relative to the working directory of the service. */
export const FOLDER_FILES: readonly SampleFile[] = [
  { path: "conf/container.properties", mode: 0o640, text: properties },
  { path: "conf/mapfile.json", mode: PUBLIC, text: mapFile },
  { path: "conf/ssh-keys.txt", mode: PUBLIC, text: keysFile },
  { path: "conf/trusted/README.txt", mode: PUBLIC, text: trustedReadme },
  { path: "conf/users.txt", mode: 0o600, text: passwordFile },
];

/** Settings of the scripts. */
export const STARTUP_FILE: SampleFile = {
  path: "conf/startup.properties",
  mode: PUBLIC,
  text: startupProperties,
};

/** Returns the scripts of a service without systemd. @param prefix Such as `unicore` in `unicore-authserver-start.sh`. */
export function scriptFiles(prefix?: string): readonly SampleFile[] {
  const name = prefix === undefined ? "authserver" : `${prefix}-authserver`;
  return [
    { path: `bin/${name}-start.sh`, mode: 0o755, text: startScript },
    { path: `bin/${name}-status.sh`, mode: 0o755, text: statusScript },
    { path: `bin/${name}-stop.sh`, mode: 0o755, text: stopScript },
    { path: "bin/launch-settings.sh", mode: PUBLIC, text: launchSettings },
  ];
}

/** Folders of unit, user and folder definitions: the vendor's for packages, else the administrator's. */
export const UNIT_FOLDERS = {
  package: {
    units: "usr/lib/systemd/system",
    sysusers: "usr/lib/sysusers.d",
    tmpfiles: "usr/lib/tmpfiles.d",
  },
  administrator: { units: "etc/systemd/system", sysusers: "etc/sysusers.d", tmpfiles: "etc/tmpfiles.d" },
} as const;

/** Returns the files of a system-wide installation; paths are relative to the root. */
export function systemFiles(installedBy: keyof typeof UNIT_FOLDERS): readonly SampleFile[] {
  const { units, sysusers: users, tmpfiles: folders } = UNIT_FOLDERS[installedBy];
  return [
    ...FOLDER_FILES.map(({ path, mode, text }) => ({
      path: path.replace(/^conf\//, "etc/authserver/"),
      mode,
      text: atSystemPlaces(text),
    })),
    { path: "etc/logrotate.d/authserver", mode: PUBLIC, text: logrotate },
    { path: "etc/fail2ban/filter.d/authserver.conf", mode: PUBLIC, text: fail2banFilter },
    { path: "etc/fail2ban/jail.d/authserver.conf", mode: PUBLIC, text: fail2banJail },
    { path: `${units}/authserver.service`, mode: PUBLIC, text: unit },
    { path: `${users}/authserver.conf`, mode: PUBLIC, text: sysusers },
    { path: `${folders}/authserver.conf`, mode: PUBLIC, text: tmpfiles },
  ];
}

function atSystemPlaces(text: string): string {
  return text.replaceAll("=conf/", "=/etc/authserver/").split("\n").map((line) => {
    const [key = ""] = line.replace(/^#/, "").split("=", 1);
    const place = SYSTEM_PLACES.get(key);
    return place === undefined ? line : `${key}=${place}`;
  }).join("\n");
}

const SYSTEM_PLACES: ReadonlyMap<string, string> = new Map([
  ["persistence.directory", "/var/lib/authserver/data"],
  ["container.logging.file", "/var/log/authserver/authserver.log"],
]);
