import type { CommandSpec } from "../command-table.ts";
import type { Group } from "../groups.ts";
import { markNotYet } from "../not-yet.ts";
import type { CommandIndex } from "../program.ts";

/** Tables by the name of their file. */
export interface SplitTable {
  readonly index: CommandIndex;
  /** `of-profiles`: commands whose first word is `profiles`. */
  readonly tables: Readonly<Record<string, readonly CommandSpec[]>>;
}

/** What the service of this version is. */
export interface OwnService {
  readonly version: string;
  /** Ids of the operations that it does not have yet. */
  readonly notYet: ReadonlySet<string>;
}

/** An index of the commands and a table for each first word, so that a call reads one of them. */
export function splitTable(specs: readonly CommandSpec[], groups: Readonly<Record<string, Group>>, { notYet, version }: OwnService): SplitTable {
  const below = Map.groupBy(
    specs.filter(({ words }) => words.length > 1),
    ({ words }) => words[0] ?? "",
  );
  const within = (group: string) => specs.filter(({ words }) => words.slice(0, group.split(" ").length).join(" ") === group);
  const used = Object.entries(groups)
    .filter(([group]) => within(group).length > 0)
    .map(
      ([name, group]) =>
        [
          name,
          within(name).every(({ operationId }) => notYet.has(operationId)) ? { ...group, description: markNotYet(group.description) } : group,
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
