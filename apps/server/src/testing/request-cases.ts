import type { Endpoint } from "@shoal/contract";
import * as z from "zod/mini";
import { manifest, zipOf } from "./zip.ts";

/** What a file is: an extension, in an archive. */
const archive = new Uint8Array(await zipOf({ "manifest.json": manifest }));

type Json = Readonly<Record<string, unknown>>;

/** A request that is wrong in one field, or whose field is just within its limit. */
export interface RequestCase {
  /** What is wrong with it, for people. */
  readonly what: string;
  /** The field, as the service names it: `body.viewport.width`. */
  readonly at: string;
  /** Whether the service takes the field as it is. */
  readonly taken: boolean;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Json;
  /** Absent where the operation takes none. */
  readonly body: unknown;
}

/** A place in a request, and the whole part of it with some value there. `undefined` leaves the place out. */
interface Place {
  readonly at: string;
  readonly schema: z.core.$ZodType;
  /** In a query or path everything is text; a form has texts and files. */
  readonly form: "json" | "text" | "multipart";
  /** Whether it is a field of an object, which can be left out. */
  readonly isField: boolean;
  /** Of the forms of a union, whose fields may need one another: the whole object. What it must have where absent. */
  readonly whole?: Json | undefined;
  with(value: unknown): unknown;
}

/** Beneath `lazy`, `optional`, `nullable`, defaults and what is done to a value before it is checked. */
function bare(schema: z.core.$ZodType): z.core.$ZodTypes {
  // `$ZodTypes` is the union of all schemas; each of them is one.
  let inner = schema as z.core.$ZodTypes;
  for (;;) {
    const { def } = inner._zod;
    if (def.type === "lazy") inner = def.getter() as z.core.$ZodTypes;
    else if (def.type === "optional" || def.type === "nullable" || def.type === "default") inner = def.innerType as z.core.$ZodTypes;
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

/** Texts of a length, of which one fits most rules that texts have: names, paths, addresses, host names, moments. */
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
  // Paths, whose names are short too.
  texts.push(`/${"abcdefghi/".repeat(Math.ceil(length / 10))}`.slice(0, length).replace(/(?<=.)\/$/, "a"));
  if (length > 4)
    texts.push(
      `${"abcdefghi."
        .repeat(Math.ceil(length / 10))
        .slice(0, length - 4)
        .replace(/\.$/, "a")}.com`,
    );
  return texts;
}

/** Some value that a schema takes, with no more in it than it must have. */
function sample(schema: z.core.$ZodType): unknown {
  const inner = bare(schema);
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
      return [values?.[0], minimum, true, ...[2, 1, 3, 8, 16, 24, 40, 64].flatMap(textsOf), "2026-01-01T00:00:00Z"].find(
        (value) => value !== undefined && takes(inner, value),
      );
    }
  }
}

/** The fields that an object must have. */
function leastOf(shape: Readonly<Record<string, z.core.$ZodType>>): Json {
  return Object.fromEntries(Object.entries(shape).flatMap(([name, field]) => (takes(field, undefined) ? [] : [[name, sample(field)]])));
}

/** Objects with every field of a shape, and with every field but one. */
function nearlyWhole(shape: Readonly<Record<string, z.core.$ZodType>>): Json[] {
  const all = Object.entries(shape).map(([name, field]) => [name, sample(field)] as const);
  return [all, ...all.map(([left]) => all.filter(([name]) => name !== left))].map((fields) => Object.fromEntries(fields));
}

/** An object with one more field where it needs one, whichever: `{ id }` for something that wants an id or a name. */
function completed(schema: z.core.$ZodType, object: Json): Json {
  const { def } = bare(schema)._zod;
  if (takes(schema, object) || def.type !== "object") return object;
  const tries = Object.entries(def.shape)
    .filter(([name]) => !(name in object))
    .map(([name, field]) => ({ ...object, [name]: sample(field) }));
  return tries.find((more) => takes(schema, more)) ?? object;
}

/** A schema, and what it can be besides: of a union, each of its forms, with the values of the fields beside it that go with the form. */
function* formsOf(
  parent: z.core.$ZodTypes,
  name: string,
  schema: z.core.$ZodType,
): Generator<{ readonly schema: z.core.$ZodType; readonly siblings: Json; readonly whole?: Json }> {
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
        .map((siblings) => ({ schema: option, siblings, whole })),
    );
    if (fitting.length === 0)
      throw new Error(`No values go with the form of ${name} that has ${Object.keys(form.shape).join(", ")}, or the cases know none.`);
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
        for (const { schema, siblings, whole } of formsOf(inner, name, field)) {
          yield* placesIn({
            ...place,
            at: `${place.at}.${name}`,
            schema,
            isField: whole === undefined,
            whole,
            with: (value) =>
              place.with(Object.fromEntries(Object.entries({ ...base, ...siblings, [name]: value }).filter(([, present]) => present !== undefined))),
          });
        }
      }
      return;
    }
    case "array": {
      const others = (sample(inner) as unknown[]).slice(1);
      if (place.form !== "text")
        yield* placesIn({ ...place, at: `${place.at}[0]`, schema: def.element, isField: false, with: (value) => place.with([value, ...others]) });
      return;
    }
    case "record":
      if (place.form !== "text")
        yield* placesIn({ ...place, at: `${place.at}.a`, schema: def.valueType, isField: false, with: (value) => place.with({ a: value }) });
      return;
    default:
  }
}

/** A value of another type than the schema's, that no rule of the schema takes. */
function otherTypes({ form, schema }: Place): unknown[] {
  const { def } = bare(schema)._zod;
  if (form === "multipart") return def.type === "file" ? ["no file"] : def.type === "string" ? [new File(["no text"], "file")] : [];
  const candidates =
    form === "text"
      ? def.type === "number" || def.type === "boolean" || def.type === "enum" || jsonOf(schema).format !== undefined
        ? ["no such value"]
        : []
      : [7, "no such value", true, [7], { zz: 7 }, null];
  return candidates.filter((value) => !takes(schema, value));
}

/** One of several values that a schema takes: where that is possible, no text in them is the same. */
function numbered(schema: z.core.$ZodType, index: number): unknown {
  const value = sample(schema);
  if (typeof value !== "object" || value === null || value instanceof File) return value;
  const varied = Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => [name, typeof field === "string" ? `${field}${String(index)}` : field]),
  );
  return takes(schema, varied) ? varied : value;
}

const limitKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"];

/** What each limit of a schema allows at most or least, and the first value beyond it. */
function* limitsOf(schema: z.core.$ZodType): Generator<{ readonly what: string; readonly value: unknown; readonly taken: boolean }> {
  const inner = bare(schema);
  const json = jsonOf(inner);
  for (const keyword of limitKeywords) {
    const limit = json[keyword];
    // zod's own bounds of integers are no limits of ours.
    if (typeof limit !== "number" || Math.abs(limit) === Number.MAX_SAFE_INTEGER) continue;
    const step = keyword.startsWith("max") || keyword === "exclusiveMaximum" ? 1 : -1;
    const of = (value: number): unknown[] => {
      if (keyword.endsWith("Length")) return textsOf(value);
      if (!keyword.endsWith("Items")) return [value];
      const { def } = inner._zod;
      return value < 0 || def.type !== "array" ? [] : [Array.from({ length: value }, (_none, index) => numbered(def.element, index))];
    };
    const last = keyword.startsWith("exclusive") ? limit - step : limit;
    const allowed = of(last).find((value) => takes(inner, value));
    const beyond = of(last + step)[0];
    if (allowed === undefined) throw new Error(`No value of ${keyword} ${String(limit)} is taken, or the cases know none: ${JSON.stringify(json)}.`);
    yield { what: `${keyword} ${String(limit)}`, value: allowed, taken: true };
    // What is done to a value before it is checked may let it pass: an empty name takes a name away.
    if (beyond !== undefined && !takes(schema, beyond)) yield { what: `beyond ${keyword} ${String(limit)}`, value: beyond, taken: false };
  }
}

/** Every case of one place, as the whole of its part of the request. */
function* casesOf(place: Place): Generator<{ readonly what: string; readonly at: string; readonly taken: boolean; readonly part: unknown }> {
  const { at, form, schema } = place;
  const isRoot = !at.includes(".");
  const inner = bare(schema);
  const { def } = inner._zod;
  if (place.isField && !takes(schema, undefined)) yield { what: "missing", at, taken: false, part: place.with(undefined) };
  if (!isRoot || form !== "text")
    for (const value of otherTypes(place))
      if (!isRoot || value !== null) yield { what: `of another type: ${JSON.stringify(value)}`, at, taken: false, part: place.with(value) };
  if (def.type === "number" && !takes(inner, 1.5)) yield { what: "no integer", at, taken: false, part: place.with(1.5) };
  for (const { taken, value, what } of limitsOf(schema)) yield { what, at, taken, part: place.with(value) };
  if (def.type === "object" && def.catchall === undefined)
    yield { what: "unknown field", at: `${at}.zz_unknown`, taken: false, part: place.with({ ...(sample(inner) as Json), zz_unknown: 1 }) };
}

/** The cases of every field of a request, as its schemas declare them. Of a multipart body the values are an object too, see {@link formOf}. */
export function* requestCases(endpoint: Endpoint, params: Readonly<Record<string, string>>): Generator<RequestCase> {
  const schemaOfBody = endpoint.body === undefined || endpoint.body.kind === "bytes" ? undefined : endpoint.body.schema;
  const query = endpoint.query === undefined ? {} : (sample(endpoint.query) as Json);
  const body = schemaOfBody && sample(schemaOfBody);
  const whole = { params, query, body };
  const parts = { query: endpoint.query, body: schemaOfBody };
  const bodyForm = endpoint.body?.kind === "multipart" ? "multipart" : "json";
  for (const [name, schema] of Object.entries(parts)) {
    if (schema === undefined) continue;
    for (const place of placesIn({ at: name, schema, form: name === "query" ? "text" : bodyForm, isField: false, with: (value) => value })) {
      for (const { at, part, taken, what } of casesOf(place)) {
        // What is within its limits comes with something else that is refused, so that it has no effect.
        const refused = taken && typeof part === "object" ? { ...part, zz_unknown: 1 } : part;
        yield { ...whole, what, at, taken, [name]: refused };
      }
    }
  }
  if (endpoint.params !== undefined) {
    const { def } = bare(endpoint.params)._zod;
    if (def.type !== "object") throw new TypeError("The params of an endpoint are an object.");
    for (const [name, schema] of Object.entries(def.shape)) {
      // A session is found before anything that is inside it looks at the request.
      if (endpoint.path.startsWith("/browsers/{id}") && name === "id") continue;
      for (const { taken, value, what } of limitsOf(schema)) {
        // An empty one is another path.
        if (value === "") continue;
        yield {
          what,
          at: `params.${name}`,
          taken,
          params: { ...params, [name]: String(value) },
          query: endpoint.query === undefined ? {} : { ...query, zz_unknown: 1 },
          body,
        };
      }
    }
  }
}

/** Whether the endpoint's own schemas tell what is within its limits from what is not. Of fields that they do not know only the service tells. */
export function areToldApart({ body, params, query }: Endpoint, tried: RequestCase): boolean {
  const parts = { params, query, body: body === undefined || body.kind === "bytes" ? undefined : body.schema };
  return (["params", "query", "body"] as const).every((name) => {
    const schema = parts[name];
    return schema === undefined || takes(schema, tried[name]) === (tried.taken || !tried.at.startsWith(name) || tried.at.endsWith("zz_unknown"));
  });
}

/** A multipart body of an object: parts of lists and of objects in them are called `files[0][dest_path]`. */
export function formOf(body: unknown): FormData {
  const form = new FormData();
  function add(name: string, value: unknown): void {
    if (value instanceof File) form.append(name, value);
    else if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) add(name === "" ? key : `${name}[${key}]`, inner);
    else form.append(name, String(value));
  }
  add("", body);
  return form;
}

/** A query as an address has it. */
export function queryText(query: Json): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return [[name, value.join(",")]];
    if (typeof value === "object" && value !== null) return Object.entries(value).map(([key, entry]) => [`${name}[${key}]`, String(entry)]);
    return [[name, String(value)]];
  });
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}
