import { contentOf, type Endpoint, nameOf, type OpenApi, type Schema } from "./openapi.ts";

/** The first example of a schema, else its required fields with plain values. */
export function sampleOf(document: OpenApi, schema: Schema): unknown {
  if (schema.$ref !== undefined) return sampleOf(document, document.components.schemas[nameOf(schema.$ref)] ?? {});
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (alternative !== undefined) return sampleOf(document, alternative);
  if (schema.type === "object")
    return Object.fromEntries(
      (schema.required ?? []).map((name) => [name, sampleOf(document, schema.properties?.[name] ?? {})]),
    );
  if (schema.type === "array") return [sampleOf(document, schema.items ?? {})];
  if (schema.type === "integer" || schema.type === "number") return schema.minimum ?? 1;
  return schema.type === "boolean" ? true : "text";
}

const bodyOf = (document: OpenApi, { requestBody }: Endpoint) => {
  const content = contentOf(requestBody?.content);
  return content?.type === "application/json" ? sampleOf(document, content.schema) : undefined;
};

/** The call with the SDK, or `undefined` for forms and files, whose pages of the guide have programs. */
export function sdkExample(document: OpenApi, endpoint: Endpoint): string | undefined {
  const content = contentOf(endpoint.requestBody?.content);
  if (content !== undefined && content.type !== "application/json") return undefined;
  const body = bodyOf(document, endpoint);
  const ids = (endpoint.parameters ?? [])
    .filter((parameter) => parameter.in === "path")
    .map(({ name }) => `"${name.toUpperCase()}"`);
  const query = (endpoint.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map(({ name, schema }) => [name, sampleOf(document, schema)] as const);
  const given = [
    ...ids,
    ...(body === undefined ? [] : [literal(body)]),
    ...(query.length === 0 ? [] : [literal(Object.fromEntries(query))]),
  ];
  const call = `shoal.${endpoint.operationId}(${given.join(", ")})`;
  const { type } = contentOf(endpoint.responses["200"]?.content) ?? {};
  return type === "text/event-stream"
    ? `for await (const event of ${call}) console.log(event);`
    : `${contentOf(successOf(endpoint)?.content) === undefined ? "" : "const result = "}await ${call};`;
}

/** The response of the lowest successful status. */
export const successOf = ({ responses }: Endpoint) =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];

/** A request with curl. */
export function curlExample(document: OpenApi, endpoint: Endpoint): string {
  const content = contentOf(endpoint.requestBody?.content);
  const query = (endpoint.parameters ?? [])
    .filter((parameter) => parameter.in === "query" && parameter.required === true)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sampleOf(document, schema)))}`);
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => `$${name.toUpperCase()}`);
  const address = `"$SHOAL_BASE_URL${path}${query.length === 0 ? "" : `?${query.join("&")}`}"`;
  return [
    `curl${endpoint.method === "GET" ? "" : ` -X ${endpoint.method}`} ${address}`,
    '-H "Authorization: Bearer $SHOAL_API_KEY"',
    ...curlBody(document, endpoint, content?.type),
  ].join(" \\\n  ");
}

function curlBody(document: OpenApi, endpoint: Endpoint, type: string | undefined): string[] {
  if (type === undefined) return [];
  if (type === "multipart/form-data")
    return formFields(document, contentOf(endpoint.requestBody?.content)?.schema ?? {}, "").map(
      ({ name, isFile }) => `-F '${name}=${isFile ? "@FILE" : "TEXT"}'`,
    );
  if (type !== "application/json") return [`-H "Content-Type: ${type}"`, "--data-binary @FILE"];
  const json = JSON.stringify(bodyOf(document, endpoint));
  return ['-H "Content-Type: application/json"', `-d '${json.replaceAll("'", `'\\''`)}'`];
}

/** The required fields of a form, and its files, by the names that the service reads: `files[0][path]`. */
export function formFields(document: OpenApi, schema: Schema, name: string): { name: string; isFile: boolean }[] {
  if (schema.$ref !== undefined)
    return formFields(document, document.components.schemas[nameOf(schema.$ref)] ?? {}, name);
  if (schema.type === "array") return formFields(document, schema.items ?? {}, `${name}[0]`);
  if (schema.properties === undefined) return [{ name, isFile: schema.format === "binary" }];
  return Object.entries(schema.properties).flatMap(([key, field]) =>
    schema.required?.includes(key) === true || field.format === "binary"
      ? formFields(document, field, name === "" ? key : `${name}[${key}]`)
      : [],
  );
}

/** JSON as a person writes it in TypeScript: names without quotes. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([name, field]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ${literal(field)}`,
  );
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
