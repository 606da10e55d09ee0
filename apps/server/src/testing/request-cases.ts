import type { Endpoint } from "@shoal/contract";
import * as z from "zod/mini";

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
  /** In a query or path everything is text. */
  readonly isText: boolean;
  /** Whether it is a field of an object, which can be left out. */
  readonly isField: boolean;
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
  for (const [head, tail] of [["/", ""], ["https://", ""], ["https://a/", ""], ["http://a.b/", ""], ["", ".example.com"], ["", "=="], ["arn:aws:iam::123456789012:role/", ""], ["2026-01-31T12:00:00.", "Z"], ["", "s"]] as const) {
    const rest = length - head.length - tail.length;
    if (rest > 0) texts.push(head + (head.startsWith("2026") || tail === "s" ? "0" : "a").repeat(rest) + tail);
  }
  if (length > 4) texts.push(`${"abcdefghi.".repeat(Math.ceil(length / 10)).slice(0, length - 4).replace(/\.$/, "a")}.com`);
  return texts;
}

/** Some value that a schema takes, with no more in it than it must have. */
function sample(schema: z.core.$ZodType): unknown {
  const inner = bare(schema);
  const { def } = inner._zod;
  switch (def.type) {
    case "object":
      return Object.fromEntries(Object.entries(def.shape).flatMap(([name, field]) => (takes(field, undefined) ? [] : [[name, sample(field)]])));
    case "array":
      return Array.from({ length: Number(jsonOf(inner).minItems ?? 0) }, () => sample(def.element));
    case "record":
      return {};
    case "union": {
      const [first] = def.options;
      return first === undefined ? undefined : sample(first);
    }
    default: {
      const { enum: values, minimum = 1 } = jsonOf(inner) as { enum?: unknown[]; minimum?: number };
      return [values?.[0], minimum, true, ...[1, 2, 3, 8, 16, 24, 40, 64].flatMap(textsOf), "2026-01-01T00:00:00Z"].find((value) => value !== undefined && takes(inner, value));
    }
  }
}

function* placesIn(place: Place): Generator<Place> {
  yield place;
  const inner = bare(place.schema);
  const { def } = inner._zod;
  switch (def.type) {
    case "object": {
      const base = sample(inner) as Json;
      for (const [name, schema] of Object.entries(def.shape)) {
        yield* placesIn({ ...place, at: `${place.at}.${name}`, schema, isField: true, with: (value) => place.with(Object.fromEntries(Object.entries({ ...base, [name]: value }).filter(([, field]) => field !== undefined))) });
      }
      return;
    }
    case "array": {
      const others = (sample(inner) as unknown[]).slice(1);
      if (!place.isText) yield* placesIn({ ...place, at: `${place.at}[0]`, schema: def.element, isField: false, with: (value) => place.with([value, ...others]) });
      return;
    }
    case "record":
      if (!place.isText) yield* placesIn({ ...place, at: `${place.at}.a`, schema: def.valueType, isField: false, with: (value) => place.with({ a: value }) });
      return;
    default:
  }
}

/** A value of another type than the schema's, that no rule of the schema takes. */
function otherTypes({ isText, schema }: Place): unknown[] {
  const { def } = bare(schema)._zod;
  const candidates = isText ? (def.type === "number" || def.type === "boolean" || def.type === "enum" || jsonOf(schema).format !== undefined ? ["no such value"] : []) : [7, "no such value", true, [7], { zz: 7 }, null];
  return candidates.filter((value) => !takes(schema, value));
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
      return value < 0 || def.type !== "array" ? [] : [Array.from({ length: value }, () => sample(def.element))];
    };
    const last = keyword.startsWith("exclusive") ? limit - step : limit;
    const allowed = of(last).find((value) => takes(inner, value));
    const beyond = of(last + step)[0];
    if (allowed !== undefined) yield { what: `${keyword} ${String(limit)}`, value: allowed, taken: true };
    // What is done to a value before it is checked may let it pass: an empty name takes a name away.
    if (beyond !== undefined && !takes(schema, beyond)) yield { what: `beyond ${keyword} ${String(limit)}`, value: beyond, taken: false };
  }
}

/** Every case of one place, as the whole of its part of the request. */
function* casesOf(place: Place): Generator<{ readonly what: string; readonly at: string; readonly taken: boolean; readonly part: unknown }> {
  const { at, isText, schema } = place;
  const isRoot = !at.includes(".");
  const inner = bare(schema);
  const { def } = inner._zod;
  if (place.isField && !takes(schema, undefined)) yield { what: "missing", at, taken: false, part: place.with(undefined) };
  if (!isRoot || !isText) for (const value of otherTypes(place)) if (!isRoot || value !== null) yield { what: `of another type: ${JSON.stringify(value)}`, at, taken: false, part: place.with(value) };
  if (def.type === "number" && !takes(inner, 1.5)) yield { what: "no integer", at, taken: false, part: place.with(1.5) };
  for (const { taken, value, what } of limitsOf(schema)) yield { what, at, taken, part: place.with(value) };
  if (def.type === "object" && def.catchall === undefined) yield { what: "unknown field", at: `${at}.zz_unknown`, taken: false, part: place.with({ ...(sample(inner) as Json), zz_unknown: 1 }) };
}

/** The cases of every field of a request, as its schemas declare them. Multipart bodies are left out: their fields are texts and files. */
export function* requestCases(endpoint: Endpoint, params: Readonly<Record<string, string>>): Generator<RequestCase> {
  const isJson = endpoint.body?.kind === "json";
  const query = endpoint.query === undefined ? {} : (sample(endpoint.query) as Json);
  const body = endpoint.body?.kind === "json" ? sample(endpoint.body.schema) : undefined;
  const whole = { params, query, body };
  const parts = { query: endpoint.query, ...(endpoint.body?.kind === "json" && { body: endpoint.body.schema }) };
  for (const [name, schema] of Object.entries(parts)) {
    if (schema === undefined) continue;
    for (const place of placesIn({ at: name, schema, isText: name === "query", isField: false, with: (value) => value })) {
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
        yield { what, at: `params.${name}`, taken, params: { ...params, [name]: String(value) }, query: endpoint.query === undefined ? {} : { ...query, zz_unknown: 1 }, body: isJson ? body : undefined };
      }
    }
  }
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
