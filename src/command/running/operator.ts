/**
 * Who runs a command, for the record: the account behind `sudo`, else the own one, which a timer or cron need not tell in
 * the environment.
 */
export async function operator(
  environment: (name: string) => string | undefined = (name) => Deno.env.get(name),
  uid: () => number | null = Deno.uid,
  passwd = "/etc/passwd",
): Promise<string> {
  for (const name of ["SUDO_USER", "LOGNAME", "USER"]) {
    const value = environment(name);
    if (value !== undefined && value !== "") return value;
  }
  const own = String(uid());
  const accounts = await Deno.readTextFile(passwd).catch(() => "");
  for (const line of accounts.split("\n")) {
    const [name = "", , number] = line.split(":");
    if (number === own && name !== "") return name;
  }
  return `uid ${own}`;
}
