export interface SampleSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SampleSchema[];
  readonly oneOf?: readonly SampleSchema[];
  readonly allOf?: readonly SampleSchema[];
  readonly items?: SampleSchema;
  readonly properties?: Readonly<Record<string, SampleSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SampleSchema;
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly pattern?: string;
}

const texts: Readonly<Record<string, string>> = {
  path: "/home/shoal/a",
  src_path: "/home/shoal/a",
  dest_path: "/home/shoal/b",
  mode: "644",
  cron: "0 9 * * 1-5",
  since: "2026-01-01T00:00:00Z",
  start: "2026-01-01T00:00:00Z",
  end: "2026-01-02T00:00:00Z",
  domain: "example.com",
  url: "https://example.com/",
  login_url: "https://example.com/login",
  endpoint: "https://otel.example.com",
  role_arn: "arn:aws:iam::123456789012:role/shoal",
  sign_only: "shop.example",
  signature_agent: "https://bots.example",
  bucket: "shoal-logs",
  prefix: "shoal",
  region: "eu-central-1",
  secret: `whsec_${"a".repeat(32)}`,
  data_b64: "aGVsbG8K",
  ref: "e1",
  tab: "t1",
};

/** Deterministic: the required fields of an object, or with `all` every field. */
export function sampleOf(
  schema: SampleSchema,
  schemas: Readonly<Record<string, SampleSchema>>,
  options: { readonly name?: string; readonly all?: boolean; readonly depth?: number } = {},
): unknown {
  const { name = "", all = false, depth = 0 } = options;
  if (schema.$ref !== undefined) return sampleOf(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, schemas, options);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  const variant = (schema.oneOf ?? schema.anyOf)?.find(({ type }) => type !== "null");
  const type = typeof schema.type === "string" ? schema.type : schema.type?.find((entry) => entry !== "null");
  if (variant && schema.properties === undefined) return sampleOf(variant, schemas, options);
  switch (type) {
    case "string":
      return (
        texts[name] ??
        (schema.format === "date-time"
          ? "2026-01-01T00:00:00Z"
          : schema.format === "date"
            ? "2026-01-01"
            : schema.format === "uri"
              ? "https://example.com/"
              : "x".repeat(Math.max(1, schema.minLength ?? 1)))
      );
    case "integer":
    case "number":
      return Math.max(1, schema.minimum ?? 1);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return depth > 4
        ? []
        : Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () =>
            sampleOf(schema.items ?? {}, schemas, { ...options, depth: depth + 1 }),
          );
    default: {
      if (schema.properties === undefined && schema.allOf === undefined)
        return typeof schema.additionalProperties === "object"
          ? { a: sampleOf(schema.additionalProperties, schemas, { depth: depth + 1 }) }
          : {};
      const parts = (schema.allOf ?? []).map(
        (part) => sampleOf(part, schemas, { ...options, depth: depth + 1 }) as object,
      );
      const required = new Set(schema.required ?? []);
      const own = Object.entries(schema.properties ?? {})
        .filter(([field]) => required.has(field) || (all && depth < 4))
        .map(([field, value]) => [field, sampleOf(value, schemas, { name: field, all, depth: depth + 1 })] as const);
      return Object.assign({}, ...parts, Object.fromEntries(own)) as unknown;
    }
  }
}
