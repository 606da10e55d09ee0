import type { CommandIndex, CommandSpec, Group } from "../core/types.ts";
import { markNotYet } from "./not-yet.ts";

export interface SplitTable {
  readonly index: CommandIndex;
  /** By file name: `of-profiles` has the commands whose first word is `profiles`. */
  readonly tables: Readonly<Record<string, readonly CommandSpec[]>>;
}

export interface OwnService {
  readonly version: string;
  /** Ids of operations. */
  readonly notYet: ReadonlySet<string>;
}

/** Writes an index and a table for each first word, so that a call reads only one table. */
export function splitTable(
  specs: readonly CommandSpec[],
  groups: Readonly<Record<string, Group>>,
  { notYet, version }: OwnService,
): SplitTable {
  const below = Map.groupBy(
    specs.filter(({ words }) => words.length > 1),
    ({ words }) => words[0] ?? "",
  );
  const within = (group: string) =>
    specs.filter(({ words }) => words.slice(0, group.split(" ").length).join(" ") === group);
  const used = Object.entries(groups)
    .filter(([group]) => within(group).length > 0)
    .map(
      ([name, group]) =>
        [
          name,
          within(name).every(({ operationId }) => notYet.has(operationId))
            ? { ...group, description: markNotYet(group.description) }
            : group,
        ] as const,
    );
  return {
    index: {
      version,
      notYet: specs.map(({ operationId }) => operationId).filter((operationId) => notYet.has(operationId)),
      roots: specs.filter(({ words }) => words.length === 1),
      groups: Object.fromEntries(used),
      tables: [...below.keys()].sort(),
    },
    tables: Object.fromEntries([...below].map(([word, table]) => [`of-${word}`, table])),
  };
}
