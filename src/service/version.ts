import project from "../../deno.json" with { type: "json" };

/** Version of this service, as `authserver version` and the status page show it. */
export const VERSION: string = project.version;
