import { serviceUrl } from "./place.ts";

/** A request, as the three kinds of programs write it. */
export interface Programs {
  /** Statements with `shoal`. */
  readonly sdk: string;
  /** Imports of the statements, other than `Shoal`. */
  readonly sdkImports?: string;
  /** Commands of `shoal`, without its name. */
  readonly cli: string;
  readonly curl: {
    readonly method?: "POST" | "PUT" | "PATCH" | "DELETE";
    /** With its query. */
    readonly path: string;
    readonly body?: object;
    /** Other arguments: `-o profile.tar.zst`. */
    readonly flags?: string;
  };
}

export const quoted = (text: string): string => JSON.stringify(text);

/** A text as one argument of a shell. */
export const forShell = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function sdkProgram({ sdk, sdkImports }: Programs): string {
  return `import { Shoal } from "@shoal/client";
${sdkImports === undefined ? "" : `${sdkImports}\n`}
// Reads SHOAL_API_KEY from the environment.
const shoal = new Shoal({ baseUrl: ${quoted(serviceUrl)} });
${sdk}`;
}

export function cliProgram({ cli }: Programs): string {
  return `# Reads SHOAL_API_KEY from the environment.
export SHOAL_BASE_URL=${forShell(serviceUrl)}
shoal ${cli}`;
}

export function curlProgram({ curl: { method, path, body, flags } }: Programs): string {
  return [
    `curl ${forShell(serviceUrl + path)}`,
    ...(method !== undefined && !(method === "POST" && body !== undefined) ? [`-X ${method}`] : []),
    '-H "Authorization: Bearer $SHOAL_API_KEY"',
    ...(body !== undefined ? ["-H 'Content-Type: application/json'", `-d ${forShell(JSON.stringify(body))}`] : []),
    ...(flags !== undefined ? [flags] : []),
  ].join(" \\\n  ");
}
