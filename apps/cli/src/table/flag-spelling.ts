import type { CommandEntry } from "../core/types.ts";
import { flagName } from "./words.ts";

/** For fields with the name of a global flag. */
const taken: Readonly<Record<string, string>> = {
  query: "--search",
  output: "--result",
  timeout: "--timeout-value",
  project: "--project-value",
  context: "--context-value",
  all: "--all-values",
  watch: "--watch-value",
};

export function flagSpelling({ flags }: CommandEntry, field: string): string {
  return flags?.[field] ?? taken[field] ?? flagName(field);
}

/** As typed: `--timeout-seconds`. */
export function fieldFlag(entry: CommandEntry, field: string): string {
  return flagSpelling(entry, field).split(", ").at(-1) ?? "";
}
