import { ServiceError } from "@shoal/router";
import type { FlowParameter, StartFlowRun, StoredSecret } from "@shoal/schemas";
import type * as z from "zod/mini";
import { badValue } from "./run-refusals.ts";

/** The values of a row. */
export interface RowValues {
  readonly texts: ReadonlyMap<string, string>;
  readonly secrets: ReadonlyMap<string, StoredSecret>;
}

/** The values of each row. @throws {ServiceError} 400 for a missing, unknown or wrong value. */
export function rowValuesOf(
  parameters: readonly FlowParameter[],
  { parameters: given, table }: Pick<z.output<typeof StartFlowRun>, "parameters" | "table">,
): readonly RowValues[] {
  const rows = table ?? [given ?? {}];
  return rows.map((row, index) =>
    valuesOf(parameters, row, table === undefined ? "parameters" : `table[${String(index)}]`),
  );
}

function valuesOf(
  parameters: readonly FlowParameter[],
  row: Readonly<Record<string, string | StoredSecret>>,
  at: string,
): RowValues {
  const texts = new Map<string, string>();
  const secrets = new Map<string, StoredSecret>();
  const unknown = Object.keys(row).find((name) => !parameters.some((one) => one.name === name));
  if (unknown !== undefined) {
    const names = parameters.map(({ name }) => name);
    const hint = names.length === 0 ? "The flow has none." : `Parameters of the flow: ${names.join(", ")}.`;
    throw ServiceError.of(badValue(at, unknown, "is not a parameter of the flow", hint));
  }
  for (const { default: usual, name, secret } of parameters) {
    const value = Object.hasOwn(row, name) ? row[name] : usual;
    if (value === undefined) throw ServiceError.of(badValue(at, name, "required: the parameter has no default"));
    if (secret && typeof value === "string")
      throw ServiceError.of(
        badValue(at, name, "must be a reference to a stored credential", 'Send {"credential": …, "field": …}.'),
      );
    if (!secret && typeof value !== "string") throw ServiceError.of(badValue(at, name, "must be a text"));
    if (typeof value === "string") texts.set(name, value);
    else secrets.set(name, value);
  }
  return { texts, secrets };
}
