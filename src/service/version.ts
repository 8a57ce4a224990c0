import project from "../../deno.json" with { type: "json" };

/** Version of this service. */
export const VERSION: string = project.version;
