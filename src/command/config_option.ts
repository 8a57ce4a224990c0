/** The option that names the main configuration file; every command that reads it has it. */
export const CONFIG_OPTION = {
  value: "FILE",
  default: "conf/container.properties",
  help: "Main configuration file",
} as const;
