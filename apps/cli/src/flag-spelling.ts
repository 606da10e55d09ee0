import type { Polish } from "./polish.ts";
import { flagName } from "./words.ts";

/** Flags that mean the same on every command, so no field may have them. */
const taken: Readonly<Record<string, string>> = {
  query: "--search",
  output: "--result",
  timeout: "--timeout-value",
  project: "--project-value",
  context: "--context-value",
  all: "--all-values",
  watch: "--watch-value",
};

/** The flag of a field, with its short form where it has one: `-t, --timeout-seconds`. */
export function flagSpelling({ flags }: Polish, field: string): string {
  return flags?.[field] ?? taken[field] ?? flagName(field);
}

/** The flag of a field as it is typed: `--timeout-seconds`. */
export function fieldFlag(polish: Polish, field: string): string {
  return flagSpelling(polish, field).split(", ").at(-1) ?? "";
}
