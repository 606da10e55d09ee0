import { contract, type Endpoint } from "@shoal/contract";
import { expect, it } from "vitest";
import * as z from "zod/mini";
import { RequestChecks } from "../operation/request-checks.ts";
import { IgnoredFields } from "./ignored-fields.ts";
import type { Problem } from "./issues.ts";

const directing = /network|prox(y|ies)|isolation|profile|credential|identity|secret|vault|certificate/;

/** Paths of the objects of a schema whose fields direct traffic, identity or secrets. */
function* directingObjects(schema: z.core.$ZodType, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 6) return;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "lazy") yield* directingObjects(def.getter(), path);
  else if (def.type === "optional" || def.type === "nullable" || def.type === "default")
    yield* directingObjects(def.innerType, path);
  else if (def.type === "pipe") {
    yield* directingObjects(def.in, path);
    yield* directingObjects(def.out, path);
  } else if (def.type === "union") for (const option of def.options) yield* directingObjects(option, path);
  else if (def.type === "array") yield* directingObjects(def.element, [...path, "0"]);
  else if (def.type === "object" && def.catchall === undefined) {
    if (path.some((name) => directing.test(name))) yield path;
    for (const [name, field] of Object.entries(def.shape)) yield* directingObjects(field, [...path, name]);
  }
}

/** A body with nothing but an unknown field at this path. */
function bodyWith(path: readonly string[]): unknown {
  return path.toReversed().reduce<unknown>((inner, name) => (name === "0" ? [inner] : { [name]: inner }), { zzz: 1 });
}

const cases = Object.values<Endpoint>(contract).flatMap((endpoint) =>
  endpoint.body?.kind === "json"
    ? [...new Set([...directingObjects(endpoint.body.schema)].map((path) => path.join(".")))].map((path) => ({
        endpoint,
        operation: endpoint.operationId,
        path,
      }))
    : [],
);

it("finds the objects of the contract that direct traffic, identity or secrets", () => {
  expect(cases.map(({ operation, path }) => `${operation} ${path}`)).toEqual(
    expect.arrayContaining(["browsers.create network", "browsers.create proxy", "browsers.create profile"]),
  );
});

it.each(cases)("refuses unknown fields of an object that directs them: $path of $operation", ({ endpoint, path }) => {
  const problems: Problem[] = [];
  new RequestChecks(endpoint, []).body(bodyWith(path.split(".")), { problems, ignored: new IgnoredFields() });
  expect(problems.map(({ message }) => message)).toEqual(
    expect.arrayContaining([expect.stringContaining("does not know the field")]),
  );
});
