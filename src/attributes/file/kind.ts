import { oneOf, optional, path } from "../../config/key.ts";
import { OPTIONAL } from "../../config/keys/attribute_keys.ts";
import { attributeSourceKind } from "../attribute_source_kind.ts";

/** Map file (specification 2.3). */
export const mapFile = attributeSourceKind({
  title: "FileAttributeSource: map file (FILE)",
  keys: {
    file: path({ help: "Map file, JSON or XML" }),
    matching: oneOf(["strict", "regexp"], {
      help: "Whether the keys of the map are names or regular expressions",
      default: "strict",
    }),
    format: optional(
      oneOf(["JSON", "XML"], { help: "Format of the file. If not set, the service detects it" }),
    ),
    optional: OPTIONAL,
  },
  read(values, { reader, prefix }) {
    reader.expectFile(`${prefix}file`, values.file);
    return values;
  },
  files: ({ file }) => [file],
  isOptional: ({ optional }) => optional,
  inspect: async (config, around) => (await import("./map_inspection.ts")).inspectMap(config, around),
  async create({ name, file, matching, format }, { log }) {
    const { fileAttributeSource } = await import("./file_attribute_source.ts");
    return await fileAttributeSource({ name, file, matching, format, log });
  },
});
