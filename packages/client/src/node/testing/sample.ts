import * as z from "zod/mini";

const texts = [
  "a",
  "/tmp/a b",
  "644",
  "https://a.example/b",
  "https://a.example",
  "2026-01-31T12:00:00.000Z",
  "2026-01-31",
  "YQ==",
  "5m",
  "asc",
  "a.example",
  "s3",
  "arn:aws:iam::123456789012:role/a",
  "eu-central-1",
  "alias/a",
  "0 9 * * 1-5",
  "Europe/Berlin",
  "a".repeat(32),
  "123456",
  "de",
  "e1",
  "t1",
  `1:${"a".repeat(64)}`,
  `whsec_${"a".repeat(32)}`,
];
const numbers = [1, 0, 6, 10, 50, 300, 1000, 4096];

const fits = (schema: z.core.$ZodType, value: unknown) => z.safeParse(schema, value).success;
const firstOf = <Value>(schema: z.core.$ZodType, candidates: readonly Value[]): Value => {
  const found = candidates.find((candidate) => fits(schema, candidate));
  if (found === undefined)
    throw new Error(
      `No candidate fits ${JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }))}`,
    );
  return found;
};

/** With as many optional fields as possible. */
export function sampleOf(schema: z.core.$ZodType, depth = 0): unknown {
  // `_zod.def.type` discriminates the union of zod's own types.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "lazy":
      return sampleOf(def.getter(), depth);
    case "optional":
    case "nullable":
    case "default":
      return sampleOf(def.innerType, depth);
    case "pipe":
      return sampleOf(def.out, depth);
    case "string":
      return firstOf(schema, texts);
    case "number":
      return firstOf(schema, numbers);
    case "boolean":
      return true;
    case "literal":
      return def.values[0];
    case "enum":
      return Object.values(def.entries)[0];
    case "file":
      return new File(["PK"], "a.zip");
    case "array": {
      const item = sampleOf(def.element, depth + 1);
      return firstOf(schema, [[item], [item, item], []]);
    }
    case "record":
      return firstOf<object>(schema, [{ a: sampleOf(def.valueType, depth + 1) }, {}]);
    case "union":
      return sampleOf(def.options[0] ?? z.unknown(), depth);
    case "object":
      return objectOf(schema, def.shape, depth);
    default:
      return null;
  }
}

function objectOf(schema: z.core.$ZodType, shape: Readonly<Record<string, z.core.$ZodType>>, depth: number): object {
  const isOptional = (name: string) => (shape[name] as z.core.$ZodTypes)._zod.optin === "optional";
  const names = Object.keys(shape);
  const required = names.filter((name) => !isOptional(name));
  // Schemas can be recursive.
  const optional = depth > 5 ? [] : names.filter(isOptional);
  // `end` must be after `start`.
  const field = (name: string) =>
    name === "end" ? "2026-02-01T12:00:00.000Z" : sampleOf(shape[name] ?? z.unknown(), depth + 1);
  const made = (chosen: readonly string[]) => Object.fromEntries(chosen.map((name) => [name, field(name)]));
  const without = optional.map((left) => names.filter((name) => name !== left));
  const pairs = optional.flatMap((one, at) =>
    optional.slice(at).map((other) => [...new Set([...required, one, other])]),
  );
  const candidates = [
    [...required, ...optional],
    ...without,
    ...(depth > 5 ? [] : optional.map((one) => [...required, one])),
    required,
    ...pairs,
  ];
  for (const chosen of candidates) {
    const value = made(chosen);
    if (fits(schema, value)) return value;
  }
  throw new Error(`No sample fits an object of ${names.join(", ")}.`);
}
