import type { Endpoint } from "../reference/openapi.ts";

/** A field of a form: a parameter, the JSON body, a part of a form, or a file as the whole body. */
export interface TryField {
  readonly place: "path" | "query" | "header" | "json" | "part" | "bytes";
  readonly name: string;
  readonly value: string | File;
}

export interface TryRequest {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | File | FormData;
  };
  /** The same request for a terminal, with a key by its variable. */
  readonly curl: string;
}

const isEmpty = ({ value }: TryField) =>
  value === "" || (typeof value !== "string" && value.size === 0 && value.name === "");

/** Builds the request of a filled form. Empty fields are not sent. @throws {Error} for an empty path parameter and for invalid JSON */
export function tryRequest(
  { method, path }: Pick<Endpoint, "method" | "path">,
  fields: readonly TryField[],
  serviceUrl: string,
): TryRequest {
  const filled = fields.filter((field) => !isEmpty(field));
  const textsIn = (place: TryField["place"]) =>
    filled.flatMap(({ name, value, ...field }) =>
      field.place === place && typeof value === "string" ? [[name, value] as const] : [],
    );
  const ids = new Map(textsIn("path"));
  const address = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`Enter ${name}.`);
    return encodeURIComponent(id);
  });
  const query = new URLSearchParams(textsIn("query").map(([name, value]) => [name, value])).toString();
  const url = `${serviceUrl}${address}${query === "" ? "" : `?${query}`}`;
  const body = bodyOf(filled);
  const headers = {
    ...Object.fromEntries(textsIn("header")),
    ...(typeof body === "string" && { "content-type": "application/json" }),
    ...(body instanceof File && { "content-type": "application/octet-stream" }),
  };
  const init = { method, headers, ...(body !== undefined && { body }) };
  return { url, init, curl: curlOf(url, init, filled) };
}

function bodyOf(fields: readonly TryField[]): string | File | FormData | undefined {
  const json = fields.find(({ place }) => place === "json");
  if (typeof json?.value === "string") {
    try {
      return JSON.stringify(JSON.parse(json.value));
    } catch (error) {
      throw new Error(`The body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
  const bytes = fields.find(({ place }) => place === "bytes");
  if (bytes?.value instanceof File) return bytes.value;
  const parts = fields.filter(({ place }) => place === "part");
  if (parts.length === 0) return undefined;
  const form = new FormData();
  for (const { name, value } of parts) form.append(name, value);
  return form;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function curlOf(url: string, { body, headers, method }: TryRequest["init"], fields: readonly TryField[]): string {
  const parts = fields.flatMap(({ name, place, value }) =>
    place === "part" ? [`-F ${quoted(`${name}=${typeof value === "string" ? value : `@${value.name}`}`)}`] : [],
  );
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(url)}`,
    '-H "Authorization: Bearer $SHOAL_API_KEY"',
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(typeof body === "string" ? [`-d ${quoted(body)}`] : []),
    ...(body instanceof File ? [`--data-binary ${quoted(`@${body.name}`)}`] : []),
    ...parts,
  ].join(" \\\n  ");
}
