import type { Endpoint } from "@shoal/contract";
import * as z from "zod/mini";
import type { IgnoredFields } from "../request/ignored-fields.ts";
import { issueMessage, maxProblems, problemsOf, type Problem } from "../request/issues.ts";
import { createQueryReader, unknownParameter, unwrap, type QueryReader } from "../request/query-reader.ts";
import { consequentialProblems } from "../request/consequential-fields.ts";
import { strict } from "../request/strict-schema.ts";
import { removeUnknownKeys } from "../request/unknown-keys.ts";
import type { Exchange } from "./exchange.ts";

export interface Findings {
  readonly problems: Problem[];
  /** Collects unknown fields; if `undefined`, each is a problem. */
  readonly ignored: IgnoredFields | undefined;
}

type Values = Readonly<Record<string, unknown>>;

const nothing: Values = Object.freeze({});
const parseOptions: z.core.ParseContext<z.core.$ZodIssue> = { error: issueMessage };

export class RequestChecks {
  readonly #params: z.core.$ZodType | undefined;
  readonly #query: z.core.$ZodType | undefined;
  readonly #readQuery: QueryReader | undefined;
  readonly #body: z.core.$ZodType | undefined;

  /** @param fixedParams - not validated. */
  constructor(endpoint: Endpoint, fixedParams: readonly string[]) {
    this.#params = endpoint.params && strict(withoutKeys(endpoint.params, fixedParams));
    this.#query = endpoint.query && strict(endpoint.query);
    this.#readQuery = endpoint.query && createQueryReader(endpoint.query);
    this.#body = endpoint.body?.kind === "json" ? strict(endpoint.body.schema) : undefined;
  }

  params({ fixedParams, params }: Exchange<unknown>, { problems }: Findings): Values {
    const checked = this.#params === undefined ? nothing : check("params", this.#params, params, problems);
    return fixedParams === undefined ? checked : { ...fixedParams, ...checked };
  }

  query(queryString: string, { ignored, problems }: Findings): Values {
    if (this.#query === undefined || this.#readQuery === undefined) return nothing;
    const { known, problems: found, unknown, value } = this.#readQuery(queryString);
    problems.push(...found);
    if (unknown.length > 0) {
      if (ignored === undefined)
        problems.push(...unknown.slice(0, maxProblems).map((key) => unknownParameter(key, known)));
      else ignored.add({ root: "query", path: [], keys: unknown, known });
    }
    return check("query", this.#query, value, problems);
  }

  body(value: unknown, { ignored, problems }: Findings): unknown {
    const schema = this.#body;
    if (schema === undefined) return undefined;
    if (ignored === undefined) return check("body", schema, value, problems);
    const result = z.safeParse(schema, value, parseOptions);
    if (result.success) return result.data;
    removeUnknownKeys(schema, value, (removed) => {
      ignored.add({ root: "body", ...removed });
      if (problems.length < maxProblems) problems.push(...consequentialProblems(removed));
    });
    return check("body", schema, value, problems);
  }
}

function withoutKeys(schema: z.core.$ZodType, keys: readonly string[]): z.core.$ZodType {
  if (keys.length === 0) return schema;
  const { def } = (unwrap(schema).schema as z.core.$ZodTypes)._zod;
  if (def.type !== "object") throw new TypeError("The params of an endpoint must be an object schema.");
  return z.object(Object.fromEntries(Object.entries(def.shape).filter(([key]) => !keys.includes(key))));
}

function check(root: string, schema: z.core.$ZodType, value: unknown, problems: Problem[]): Values {
  const result = z.safeParse(schema, value, parseOptions);
  if (!result.success) {
    // A hostile body can have hundreds of thousands of issues.
    problems.push(...problemsOf(root, result.error.issues.slice(0, maxProblems)));
    return nothing;
  }
  return result.data as Record<string, unknown>;
}
