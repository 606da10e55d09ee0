import type { Contract } from "@shoal/contract";
import { toOpenApi } from "@shoal/contract/openapi";
import { version } from "../../config/version.ts";
import type { Dialect } from "./dialect.ts";

/** The endpoints with their paths on this service. */
export function prefixed({ contract, name }: Dialect): Contract {
  return Object.fromEntries(
    Object.entries(contract).map(([key, endpoint]) => [key, { ...endpoint, path: `/${name}${endpoint.path}` }]),
  );
}

/** The OpenAPI document of a dialect. */
export function documentOf(dialect: Dialect): object {
  const document = toOpenApi(prefixed(dialect), {
    title: `Shoal for clients of ${dialect.title}`,
    version,
    description: `The interface of ${dialect.title}, answered by Shoal.`,
  });
  const { components } = document as { readonly components: Readonly<Record<string, object>> };
  const error = Object.keys(dialect.errorBody({ code: "bad_request", message: "" }, 400, ""));
  return {
    ...document,
    components: {
      ...components,
      securitySchemes: { key: keySchemeOf(dialect) },
      schemas: {
        ...components.schemas,
        ErrorBody: {
          type: "object",
          required: error,
          properties: Object.fromEntries(error.map((field) => [field, {}])),
        },
      },
    },
    security: [{ key: [] }],
  };
}

function keySchemeOf({ keyHeader }: Dialect): object {
  return keyHeader === undefined
    ? { type: "http", scheme: "basic" }
    : { type: "apiKey", in: "header", name: keyHeader };
}
