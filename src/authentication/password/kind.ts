import { path } from "../../config/key.ts";
import { authenticatorKind } from "../authenticator_kind.ts";

/** User names and passwords in a file (specification 2.5). */
export const passwordFile = authenticatorKind({
  title: "FilebasedAuthenticator: user name and password (PASSWORD, FILE)",
  keys: { file: path({ help: "Password file, lines user:hash:salt:DN" }) },
  read(values, { reader, prefix }) {
    reader.expectFile(`${prefix}file`, values.file);
    return values;
  },
  methods: { PASSWORD_FILE: "user name and password" },
  files: ({ file }) => [file],
  inspect: async ({ file }) => (await import("./password_table.ts")).inspectPasswordFile(file),
  create: async ({ name, file }, { log }) =>
    (await import("./password_file.ts")).passwordFile({ name, file, log }),
});
