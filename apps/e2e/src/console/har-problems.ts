import { Ajv } from "ajv";
import formats from "ajv-formats";
import { readdirSync, readFileSync } from "node:fs";

export interface Har {
  readonly log: {
    readonly pages: readonly { readonly pageTimings: { readonly onLoad: number } }[];
    readonly entries: readonly {
      readonly request: { readonly method: string };
      readonly response: { readonly status: number };
    }[];
  };
}

const schemaFolder = new URL(".", import.meta.resolve("har-schema"));
const read = (url: URL) => JSON.parse(readFileSync(url, "utf8")) as object;

/** What makes an archive invalid by the schema of HAR 1.2. */
export function problemsOfHar(har: unknown): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addMetaSchema(read(new URL(import.meta.resolve("ajv/dist/refs/json-schema-draft-06.json"))));
  for (const name of readdirSync(schemaFolder).filter((file) => file.endsWith(".json")))
    ajv.addSchema(read(new URL(name, schemaFolder)));
  ajv.validate("har.json#", har);
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message ?? ""}`);
}
