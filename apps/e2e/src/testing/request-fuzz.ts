import document from "@shoal/contract/openapi.json" with { type: "json" };
import fc from "fast-check";

type Json = Readonly<Record<string, unknown>>;

export interface FuzzedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Json;
  }[];
  readonly body: Json | undefined;
}

/** A request that violates the document in some places. */
export interface FuzzedRequest {
  readonly operation: FuzzedOperation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const methods = ["get", "post", "put", "patch", "delete"];
const maxDepth = 5;

/** Every operation without another body than JSON. Deletions come last, since other operations need the objects. */
export function operationsToFuzz(): FuzzedOperation[] {
  const operations = Object.entries(document.paths as unknown as Record<string, Record<string, Json>>).flatMap(
    ([path, item]) =>
      methods.flatMap((method) => {
        const operation = item[method];
        if (operation === undefined) return [];
        const content = (operation.requestBody as { content?: Record<string, { schema: Json }> } | undefined)?.content;
        if (content !== undefined && content["application/json"] === undefined) return [];
        const parameters = ((operation.parameters ?? []) as Json[]).map(
          (parameter) => resolved(parameter) as unknown as FuzzedOperation["parameters"][number],
        );
        return [
          {
            operationId: String(operation.operationId),
            method: method.toUpperCase(),
            path,
            parameters,
            body: content?.["application/json"]?.schema,
          },
        ];
      }),
  );
  return operations.toSorted((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"));
}

/** Requests to an operation. @param known - existing ids and names, for path parameters. */
export function requestsTo(operation: FuzzedOperation, known: readonly string[]): fc.Arbitrary<FuzzedRequest> {
  const paths = operation.parameters.filter((parameter) => parameter.in === "path");
  const queries = operation.parameters.filter((parameter) => parameter.in === "query");
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: hostileText });
  return fc.record({
    operation: fc.constant(operation),
    params: fc.record(Object.fromEntries(paths.map((parameter) => [parameter.name, name]))),
    query: fc.record(Object.fromEntries(queries.map(({ name: key, schema }) => [key, mostly(valueOf(schema, 0))])), {
      requiredKeys: queries.flatMap(({ name: key, required }) => (required === true ? [key] : [])),
    }),
    body: operation.body === undefined ? fc.constant(undefined) : mostly(valueOf(operation.body, 0)),
  });
}

const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "",
    ".",
    "..",
    "\0",
    "%00",
    "a/b",
    "\u{1F600}",
    "\uFFFD",
    "' or 1=1 --",
    "__proto__",
    "constructor",
    "a".repeat(300),
  ),
);
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  hostileText,
  fc.constantFrom<unknown>(-1, 0, 1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, null, true, [], {}, [[]], { a: null }),
);

function mostly(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: anything });
}

function resolved(node: Json): Json {
  const { $ref } = node;
  if (typeof $ref !== "string") return node;
  const target = $ref
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((at, step) => (at as Json)[step], document);
  return resolved(target as Json);
}

function valueOf(given: Json, depth: number): fc.Arbitrary<unknown> {
  const schema = resolved(given);
  const variants = (schema.oneOf ?? schema.anyOf) as Json[] | undefined;
  if (depth > maxDepth) return anything;
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (variants !== undefined) return fc.oneof(...variants.map((variant) => mostly(valueOf(variant, depth + 1))));
  const types = [schema.type].flat();
  switch (types.find((type) => type !== "null")) {
    case "object":
      return objectOf(schema, depth);
    case "array":
      return fc.array(mostly(valueOf((schema.items ?? {}) as Json, depth + 1)), { maxLength: 3 });
    case "integer":
      return fc.oneof(numberOf(schema), fc.integer());
    case "number":
      return fc.oneof(numberOf(schema), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "boolean":
      return fc.boolean();
    case "string":
      return textOf(schema);
    default:
      return anything;
  }
}

function objectOf(schema: Json, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
  const fields = Object.fromEntries(properties.map(([name, field]) => [name, mostly(valueOf(field, depth + 1))]));
  const requiredKeys = (schema.required ?? []) as string[];
  const known = fc.record(fields, { requiredKeys });
  // One bad field of many refuses a request, so that few requests with many fields pass the checks.
  const optional = Object.keys(fields).filter((name) => !requiredKeys.includes(name));
  const few = fc
    .constantFrom(undefined, ...optional)
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(Object.entries(fields).filter(([name]) => requiredKeys.includes(name) || name === chosen)),
      ),
    );
  const more = fc.dictionary(hostileText, anything, { maxKeys: 2 });
  return fc.oneof(
    { weight: 3, arbitrary: known },
    { weight: 2, arbitrary: few },
    { weight: 1, arbitrary: fc.tuple(known, more).map(([some, others]) => ({ ...others, ...some })) },
  );
}

function numberOf({
  maximum = 100,
  minimum = 0,
}: {
  readonly maximum?: unknown;
  readonly minimum?: unknown;
}): fc.Arbitrary<number> {
  const [low, high] = [Number(minimum), Math.max(Number(minimum), Number(maximum))];
  return fc.oneof(
    fc.constantFrom(low - 1, low, high, high + 1),
    fc.integer({ min: Math.ceil(low), max: Math.min(Math.floor(high), low + 1000) }),
  );
}

function textOf({ format, minLength = 0, pattern }: Json): fc.Arbitrary<string> {
  if (format === "date-time")
    return fc.oneof(
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
      hostileText,
    );
  const usual = fc.constantFrom(
    "a",
    "fuzz",
    "fuzz-1",
    "/tmp",
    "/home/shoal",
    "https://example.invalid/",
    "x".repeat(Math.max(1, Number(minLength))),
  );
  return pattern === undefined
    ? fc.oneof(usual, hostileText)
    : fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: hostileText });
}
