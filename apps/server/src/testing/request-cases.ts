import type { Endpoint } from "@shoal/contract";
import * as z from "zod/mini";
import { manifest, zipOf } from "./zip.ts";

const archive = new Uint8Array(await zipOf({ "manifest.json": manifest }));

type Json = Readonly<Record<string, unknown>>;

/** A request that is invalid in one field, or whose field is just within its limit. */
export interface RequestCase {
  readonly what: string;
  /** The field, as the service names it: `body.viewport.width`. */
  readonly at: string;
  /** Whether the service accepts the value. */
  readonly taken: boolean;
  /** False for further values of another type in a field: {@link areToldApart} is enough for them. */
  readonly isSent: boolean;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Json;
  readonly body: unknown;
}

interface Place {
  readonly at: string;
  readonly schema: z.core.$ZodType;
  /** Queries and paths contain only text; forms contain texts and files. */
  readonly form: "json" | "text" | "multipart";
  readonly isField: boolean;
  /** For a form of a union, whose fields may depend on one another: the whole object. Default: the required fields. */
  readonly whole?: Json | undefined;
  /** The union of which `schema` is a form: it may take what the form rejects. */
  readonly union?: z.core.$ZodType | undefined;
  with(value: unknown): unknown;
}

/** Unwraps `lazy`, `optional`, `nullable`, defaults and transformations. */
function bare(schema: z.core.$ZodType): z.core.$ZodTypes {
  // `$ZodTypes` is the union of all schemas.
  let inner = schema as z.core.$ZodTypes;
  for (;;) {
    const { def } = inner._zod;
    // The getter makes another schema for each call.
    if (def.type === "lazy") inner = (inner as z.core.$ZodLazy)._zod.innerType as z.core.$ZodTypes;
    else if (def.type === "optional" || def.type === "nullable" || def.type === "default")
      inner = def.innerType as z.core.$ZodTypes;
    else if (def.type === "pipe") inner = def.out as z.core.$ZodTypes;
    else return inner;
  }
}

function takes(schema: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(schema, value).success;
}

const jsonSchemas = new WeakMap<z.core.$ZodType, Json>();

function jsonOf(schema: z.core.$ZodType): Json {
  const known = jsonSchemas.get(schema);
  if (known !== undefined) return known;
  const made = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  jsonSchemas.set(schema, made);
  return made;
}

/** Texts of a length; one of them fits most rules: names, paths, addresses, host names, dates. */
function textsOf(length: number): string[] {
  if (length < 0) return [];
  const texts = ["a", "A", "1", "="].map((letter) => letter.repeat(length));
  for (const [head, tail] of [
    ["https://", ""],
    ["https://a/", ""],
    ["http://a.b/", ""],
    ["", ".example.com"],
    ["", "=="],
    ["arn:aws:iam::123456789012:role/", ""],
    ["2026-01-31T12:00:00.", "Z"],
    ["", "s"],
  ] as const) {
    const rest = length - head.length - tail.length;
    if (rest > 0) texts.push(head + (head.startsWith("2026") || tail === "s" ? "0" : "a").repeat(rest) + tail);
  }
  // Paths with short segments.
  texts.push(`/${"abcdefghi/".repeat(Math.ceil(length / 10))}`.slice(0, length).replace(/(?<=.)\/$/, "a"));
  if (length > 4)
    texts.push(
      `${"abcdefghi."
        .repeat(Math.ceil(length / 10))
        .slice(0, length - 4)
        .replace(/\.$/, "a")}.com`,
    );
  // Times of a schedule.
  if (length % 2 === 0 && length > 10) texts.push(`00 9 * * 1${",1".repeat((length - 10) / 2)}`);
  return texts;
}

const samples = new WeakMap<z.core.$ZodType, { readonly value: unknown }>();

/** A valid value, the same object for each call. */
function sample(schema: z.core.$ZodType): unknown {
  const inner = bare(schema);
  const known = samples.get(inner);
  if (known !== undefined) return known.value;
  const value = newSample(inner);
  samples.set(inner, { value });
  return value;
}

function newSample(inner: z.core.$ZodTypes): unknown {
  const { def } = inner._zod;
  switch (def.type) {
    case "object":
      return completed(inner, leastOf(def.shape));
    case "array":
      return Array.from({ length: Number(jsonOf(inner).minItems ?? 0) }, () => sample(def.element));
    case "record":
      return {};
    case "file":
      return new File([archive], "archive.zip");
    case "union": {
      const [first] = def.options;
      return first === undefined ? undefined : sample(first);
    }
    default: {
      const { enum: values, minimum = 1 } = jsonOf(inner) as { enum?: unknown[]; minimum?: number };
      return [
        values?.[0],
        minimum,
        true,
        ...[2, 1, 3, 8, 16, 24, 40, 64].flatMap(textsOf),
        "2026-01-01T00:00:00Z",
      ].find((value) => value !== undefined && takes(inner, value));
    }
  }
}

function leastOf(shape: Readonly<Record<string, z.core.$ZodType>>): Json {
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, field]) => (takes(field, undefined) ? [] : [[name, sample(field)]])),
  );
}

/** Objects with every field of a shape, and with every field but one. */
function nearlyWhole(shape: Readonly<Record<string, z.core.$ZodType>>): Json[] {
  const all = Object.entries(shape).map(([name, field]) => [name, sample(field)] as const);
  return [all, ...all.map(([left]) => all.filter(([name]) => name !== left))].map((fields) =>
    Object.fromEntries(fields),
  );
}

/** Adds one field if the object requires one of several: `{ id }` where an id or a name is required. */
function completed(schema: z.core.$ZodType, object: Json): Json {
  const { def } = bare(schema)._zod;
  if (takes(schema, object) || def.type !== "object") return object;
  const tries = Object.entries(def.shape)
    .filter(([name]) => !(name in object))
    .map(([name, field]) => ({ ...object, [name]: sample(field) }));
  return tries.find((more) => takes(schema, more)) ?? object;
}

/** Yields the schema and, for a union, each form with the values of sibling fields that it requires. */
function* formsOf(
  parent: z.core.$ZodTypes,
  name: string,
  schema: z.core.$ZodType,
): Generator<{
  readonly schema: z.core.$ZodType;
  readonly siblings: Json;
  readonly union?: z.core.$ZodType;
  readonly whole?: Json;
}> {
  yield { schema, siblings: {} };
  const { def } = bare(schema)._zod;
  const outer = parent._zod.def;
  if (def.type !== "union" || outer.type !== "object") return;
  const kinds = Object.entries(outer.shape).flatMap(([key, field]) => {
    const { def: sibling } = bare(field)._zod;
    return sibling.type === "enum" ? Object.values(sibling.entries).map((value) => ({ [key]: value })) : [];
  });
  for (const option of def.options) {
    const { def: form } = bare(option)._zod;
    if (form.type !== "object") continue;
    const least = sample(parent) as Json;
    const fitting = nearlyWhole(form.shape).flatMap((whole) =>
      [{}, ...kinds]
        .filter((siblings) => takes(parent, { ...least, ...siblings, [name]: whole }))
        .map((siblings) => ({ schema: option, siblings, union: schema, whole })),
    );
    if (fitting.length === 0)
      throw new Error(
        `No values go with the form of ${name} that has ${Object.keys(form.shape).join(", ")}, or the cases know none.`,
      );
    yield* fitting.filter(({ whole }) => whole === fitting[0]?.whole);
  }
}

function* placesIn(place: Place): Generator<Place> {
  yield place;
  const inner = bare(place.schema);
  const { def } = inner._zod;
  switch (def.type) {
    case "object": {
      const least = place.whole ?? leastOf(def.shape);
      for (const [name, field] of Object.entries(def.shape)) {
        const base = completed(inner, { ...least, [name]: sample(field) });
        for (const { schema, siblings, union, whole } of formsOf(inner, name, field)) {
          yield* placesIn({
            ...place,
            at: `${place.at}.${name}`,
            schema,
            isField: whole === undefined,
            union,
            whole,
            with: (value) =>
              place.with(
                Object.fromEntries(
                  Object.entries({ ...base, ...siblings, [name]: value }).filter(
                    ([, present]) => present !== undefined,
                  ),
                ),
              ),
          });
        }
      }
      return;
    }
    case "array": {
      const others = (sample(inner) as unknown[]).slice(1);
      if (place.form !== "text")
        yield* placesIn({
          ...place,
          at: `${place.at}[0]`,
          schema: def.element,
          isField: false,
          with: (value) => place.with([value, ...others]),
        });
      return;
    }
    case "record":
      if (place.form !== "text")
        yield* placesIn({
          ...place,
          at: `${place.at}.a`,
          schema: def.valueType,
          isField: false,
          with: (value) => place.with({ a: value }),
        });
      return;
    default:
  }
}

/** Values of another type that the schema rejects. */
function otherTypes({ form, schema, union }: Place): unknown[] {
  const { def } = bare(schema)._zod;
  if (form === "multipart")
    return def.type === "file" ? ["no file"] : def.type === "string" ? [new File(["no text"], "file")] : [];
  const candidates =
    form === "text"
      ? def.type === "number" || def.type === "boolean" || def.type === "enum" || jsonOf(schema).format !== undefined
        ? ["no such value"]
        : []
      : [7, "no such value", true, [7], { zz: 7 }, null];
  return candidates.filter((value) => !takes(schema, value) && !(union !== undefined && takes(union, value)));
}

/** Returns a distinct valid value for each index, where possible. */
function numbered(schema: z.core.$ZodType, index: number): unknown {
  const value = sample(schema);
  if (typeof value !== "object" || value === null || value instanceof File) return value;
  const varied = Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => [
      name,
      typeof field === "string" ? `${field}${String(index)}` : field,
    ]),
  );
  return takes(schema, varied) ? varied : value;
}

const limitKeywords = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
];

/** Yields the limit values of a schema, and the first value beyond each limit. */
function* limitsOf(
  schema: z.core.$ZodType,
): Generator<{ readonly what: string; readonly value: unknown; readonly taken: boolean }> {
  const inner = bare(schema);
  const json = jsonOf(inner);
  for (const keyword of limitKeywords) {
    const limit = json[keyword];
    // zod's built-in bounds of integers do not count.
    if (typeof limit !== "number" || Math.abs(limit) === Number.MAX_SAFE_INTEGER) continue;
    const step = keyword.startsWith("max") || keyword === "exclusiveMaximum" ? 1 : -1;
    const of = (value: number): unknown[] => {
      if (keyword.endsWith("Length")) return textsOf(value);
      if (!keyword.endsWith("Items")) return [value];
      const { def } = inner._zod;
      return value < 0 || def.type !== "array"
        ? []
        : [Array.from({ length: value }, (_none, index) => numbered(def.element, index))];
    };
    const last = keyword.startsWith("exclusive") ? limit - step : limit;
    const allowed = of(last).find((value) => takes(inner, value));
    const beyond = of(last + step)[0];
    if (allowed === undefined)
      throw new Error(
        `No value of ${keyword} ${String(limit)} is taken, or the cases know none: ${JSON.stringify(json)}.`,
      );
    yield { what: `${keyword} ${String(limit)}`, value: allowed, taken: true };
    // A transformation may make the value valid: an empty name removes the name.
    if (beyond !== undefined && !takes(schema, beyond))
      yield { what: `beyond ${keyword} ${String(limit)}`, value: beyond, taken: false };
  }
}

function* casesOf(
  place: Place,
): Generator<Pick<RequestCase, "what" | "at" | "taken"> & { readonly part: unknown; readonly isSent?: boolean }> {
  const { at, form, schema } = place;
  const isRoot = !at.includes(".");
  const inner = bare(schema);
  const { def } = inner._zod;
  if (place.isField && !takes(schema, undefined))
    yield { what: "missing", at, taken: false, part: place.with(undefined) };
  if (!isRoot || form !== "text") {
    const others = otherTypes(place).filter((value) => !isRoot || value !== null);
    // Fields take turns, so that requests contain each of the types.
    const turn = at.length % others.length;
    for (const [index, value] of others.entries())
      yield {
        what: `of another type: ${JSON.stringify(value)}`,
        at,
        taken: false,
        isSent: isRoot || value === null || index === turn,
        part: place.with(value),
      };
  }
  if (def.type === "number" && !takes(inner, 1.5))
    yield { what: "no integer", at, taken: false, part: place.with(1.5) };
  for (const { taken, value, what } of limitsOf(schema)) yield { what, at, taken, part: place.with(value) };
  if (def.type === "object" && def.catchall === undefined)
    yield {
      what: "unknown field",
      at: `${at}.zz_unknown`,
      taken: false,
      part: place.with({ ...(sample(inner) as Json), zz_unknown: 1 }),
    };
}

/**
 * Yields cases for every declared field of a request. The values of a multipart body are an object, see {@link formOf}.
 */
export function* requestCases(endpoint: Endpoint, params: Readonly<Record<string, string>>): Generator<RequestCase> {
  const schemaOfBody = endpoint.body === undefined || endpoint.body.kind === "bytes" ? undefined : endpoint.body.schema;
  const query = endpoint.query === undefined ? {} : (sample(endpoint.query) as Json);
  const body = schemaOfBody && sample(schemaOfBody);
  const whole = { params, query, body };
  const parts = { query: endpoint.query, body: schemaOfBody };
  const bodyForm = endpoint.body?.kind === "multipart" ? "multipart" : "json";
  for (const [name, schema] of Object.entries(parts)) {
    if (schema === undefined) continue;
    for (const place of placesIn({
      at: name,
      schema,
      form: name === "query" ? "text" : bodyForm,
      isField: false,
      with: (value) => value,
    })) {
      for (const { at, part, taken, what, isSent = true } of casesOf(place)) {
        // A second, invalid field rejects requests with a valid value, so that they have no effect.
        const refused = taken && typeof part === "object" ? { ...part, zz_unknown: 1 } : part;
        yield { ...whole, what, at, taken, isSent, [name]: refused };
      }
    }
  }
  if (endpoint.params !== undefined) {
    const { def } = bare(endpoint.params)._zod;
    if (def.type !== "object") throw new TypeError("The params of an endpoint are an object.");
    for (const [name, schema] of Object.entries(def.shape)) {
      // The service looks up the session before it validates the rest.
      if (endpoint.path.startsWith("/browsers/{id}") && name === "id") continue;
      for (const { taken, value, what } of limitsOf(schema)) {
        // An empty value is another path.
        if (value === "") continue;
        yield {
          what,
          at: `params.${name}`,
          taken,
          isSent: true,
          params: { ...params, [name]: String(value) },
          query: endpoint.query === undefined ? {} : { ...query, zz_unknown: 1 },
          body,
        };
      }
    }
  }
}

/** Whether the endpoint's schemas and the case agree about validity. Only the service rejects unknown fields. */
export function areToldApart({ body, params, query }: Endpoint, tried: RequestCase): boolean {
  const parts = { params, query, body: body === undefined || body.kind === "bytes" ? undefined : body.schema };
  return (["params", "query", "body"] as const).every((name) => {
    const schema = parts[name];
    return (
      schema === undefined ||
      takes(schema, tried[name]) === (tried.taken || !tried.at.startsWith(name) || tried.at.endsWith("zz_unknown"))
    );
  });
}

/** Names nested parts `files[0][dest_path]`. */
export function formOf(body: unknown): FormData {
  const form = new FormData();
  function add(name: string, value: unknown): void {
    if (value instanceof File) form.append(name, value);
    // The source of a deployment, the one object without a file, is a JSON part.
    else if (name === "source") form.append(name, JSON.stringify(value));
    else if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) add(name === "" ? key : `${name}[${key}]`, inner);
    else form.append(name, String(value));
  }
  add("", body);
  return form;
}

export function queryText(query: Json): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return [[name, value.join(",")]];
    if (typeof value === "object" && value !== null)
      return Object.entries(value).map(([key, entry]) => [`${name}[${key}]`, String(entry)]);
    return [[name, String(value)]];
  });
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}
