import { readFileSync } from "node:fs";

export interface ReferenceSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, ReferenceSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ReferenceSchema;
  readonly items?: ReferenceSchema;
  readonly oneOf?: readonly ReferenceSchema[];
  readonly allOf?: readonly ReferenceSchema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
}

type Content = Readonly<Record<string, { readonly schema: ReferenceSchema }>>;

interface Response {
  readonly $ref?: string;
  readonly content?: Content;
}

export interface ReferenceAnswer {
  readonly status: number;
  readonly content: Content;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: ReferenceSchema;
}

export interface ReferenceOperation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly Parameter[];
  readonly body: Content | undefined;
  readonly answers: readonly ReferenceAnswer[];
  readonly errors: readonly ReferenceAnswer[];
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

const document = JSON.parse(
  readFileSync(new URL("../../../reference/reference.openapi.json", import.meta.url), "utf8"),
) as {
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, ReferenceSchema>>;
  };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] }>
  >;
};

const methods = ["get", "post", "put", "patch", "delete"];
const prefix = "#/components/schemas/";

export function referenceOperations(): ReferenceOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      const all = Object.entries(operation.responses).map(([status, response]) => ({
        status: Number(status),
        content: contentOf(response),
      }));
      const answers = all.filter(({ status }) => status < 300);
      const errors = all.filter(({ status }) => status >= 400);
      const query = parameters.filter((parameter) => parameter.in === "query");
      return [{ method: method.toUpperCase(), path, query, body: operation.requestBody?.content, answers, errors }];
    }),
  );
}

function contentOf({ $ref, content = {} }: Response): Content {
  return $ref === undefined
    ? content
    : contentOf(document.components.responses[$ref.replace("#/components/responses/", "")] ?? {});
}

/** Returns a schema with references resolved and the members of `allOf` joined. */
export function resolved(schema: ReferenceSchema): ReferenceSchema {
  const { $ref, allOf, ...own } = schema;
  const parts = [...($ref === undefined ? [] : [named($ref)]), ...(allOf ?? [])].map(resolved);
  if (parts.length === 0) return own;
  return [...parts, own].reduce((joined, part) => {
    const properties = { ...joined.properties, ...part.properties };
    return {
      ...joined,
      ...part,
      ...(Object.keys(properties).length > 0 && { properties }),
      required: [...(joined.required ?? []), ...(part.required ?? [])],
    };
  });
}

export function named($ref: string): ReferenceSchema {
  const found = $ref.startsWith(prefix) ? document.components.schemas[$ref.slice(prefix.length)] : undefined;
  if (found === undefined) throw new Error(`The wire reference has no component ${$ref}.`);
  return found;
}
