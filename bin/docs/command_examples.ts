/** Command lines for the manual pages, with what they do, by command. */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "serve": {
    "authserver": "Uses conf/container.properties, or else /etc/authserver/container.properties",
    "authserver serve --config site/container.properties --name SITE-A":
      "Runs one of several services on a machine",
  },
  "init": {
    "authserver init --try": "Sets up and starts a trial service in an empty folder",
    "authserver init --system": "Writes the files of a systemd installation, as root",
  },
  "migrate": {
    "authserver migrate /opt/unicore-authserver": "Migrates an installation from the archive",
    "authserver migrate /etc/unicore/authserver":
      "Migrates an installed package, as an account that may read its files",
  },
  "status": {
    "authserver status": "Shows the state of the service and its problems",
    "authserver status --json | jq .servers": "Prints the state of each server as JSON",
    "authserver status --nagios": "Prints one line with performance data for a monitoring system",
  },
  "reload": {
    "authserver check && authserver reload": "Reloads the configuration if it is valid",
  },
  "check": {
    "authserver check": "Tests whether the service would start",
    "authserver check --online": "Also tests connections and certificates of daemons and identity providers",
  },
  "config": {
    "authserver config show": "Shows each value and its source: file and line, or default",
    "authserver config show --json": "Prints the same as JSON, without secrets",
    "authserver config schema": "Prints the JSON Schema of all keys",
  },
  "whoami-test": {
    "authserver whoami-test 'CN=Ann Example, O=Site'":
      "Shows account, groups and limits of a user on each server",
    "authserver whoami-test ann": "Does the same for a user name",
    "authserver whoami-test ann --password --server HPC":
      "Tests a login with a password, and explains a failure",
    "authserver whoami-test --token - <token.txt":
      "Shows each check of an access token, and what each server would say",
  },
  "ban": {
    "authserver ban add --address 192.0.2.7 --for 2h": "Bans an address for two hours",
    "authserver ban remove --user ann": "Unlocks a user who mistyped too often",
  },
  "token": {
    "authserver token list --user ann": "Lists the tokens with the address of the last use",
    "authserver token revoke --user ann": "Revokes all tokens, for example after a laptop was stolen",
  },
  "user": {
    "authserver user show ann": "Shows whether daemons know the account, and its keys",
  },
  "passwd": {
    'authserver passwd add ann --dn "CN=Ann Example, O=Example"': "Prompts for the password twice",
    "authserver passwd change ann --stdin < new-password": "Reads the password from a file",
    "authserver passwd verify ann": "Checks whether the password is correct",
  },
  "share": {
    "sudo -u authserver authserver share list": "Lists all shares of a service that systemd runs",
    "authserver share import shares.csv": "Takes shares over from the Java service",
  },
  "database": {
    "authserver database migrate --user authserver_owner":
      "Creates the tables, or migrates them to this version",
    "sudo -u authserver authserver database import": "Takes over what was kept in SQLite",
  },
  "backup": {
    "authserver backup /var/backups/authserver-$(date +%F)": "Makes today's backup",
  },
  "restore": {
    "authserver restore --replace /var/backups/authserver-2026-01-05": "Goes back to a backup",
  },
  "completion": {
    "source <(authserver completion bash)": "Enables completion in the current shell",
  },
};
