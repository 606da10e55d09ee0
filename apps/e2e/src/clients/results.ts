import type { Client, Door } from "./client.ts";
import { doors as allDoors } from "./doors.ts";

/** The last run of a client's tests that passed. */
export interface Result {
  /** Of the client in that run. */
  readonly versions: string;
  /** Tests that passed, none of them skipped. */
  readonly tests: number;
  /** Their titles in the list of clients. */
  readonly named: readonly string[];
}

/** By the name of the client. */
export type Results = Readonly<Record<string, Result>>;

/** A test of a run. */
export interface Outcome {
  /** From the root of the repository. */
  readonly file: string;
  readonly title: string;
  readonly state: string;
}

export const versionsOf = ({ versions }: Client): string => versions.join(", ");

/** @param named - a title or its beginning, with the `%s` of `it.each`. */
function isTitle(named: string, title: string): boolean {
  const [first = "", ...parts] = named.split("%s");
  if (!title.startsWith(first)) return false;
  let end = first.length;
  for (const part of parts) {
    const found = title.indexOf(part, end);
    if (found < 0) return false;
    end = found + part.length;
  }
  return true;
}

/** The outcomes of a named test, which has several with `it.each`. */
function outcomesOf(file: string, named: string, outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.filter((outcome) => outcome.file === file && isTitle(named, outcome.title));
}

const namedTests = ({ tests }: Client): readonly (readonly [file: string, named: string])[] =>
  Object.entries(tests).flatMap(([file, titles]) => titles.map((named) => [file, named] as const));

/** The earlier results with those of the clients whose tests are all among the outcomes. A client with a problem keeps its result. */
export function recordResults(
  doors: readonly Door[],
  earlier: Results,
  outcomes: readonly Outcome[],
): { readonly results: Results; readonly problems: readonly string[] } {
  const results = new Map(Object.entries(earlier));
  const problems: string[] = [];
  for (const client of doors.flatMap(({ clients }) => clients)) {
    const found = namedTests(client).map(([file, named]) => outcomesOf(file, named, outcomes));
    if (found.length === 0 || found.some((each) => each.length === 0)) continue;
    const failed = found.flat().filter(({ state }) => state !== "passed");
    problems.push(...failed.map(({ file, state, title }) => `${client.name}: ${file} > ${title}: ${state}`));
    if (failed.length === 0)
      results.set(client.name, { versions: versionsOf(client), tests: found.flat().length, named: titlesOf(client) });
  }
  const names = new Set(doors.flatMap(({ clients }) => clients.map(({ name }) => name)));
  const kept = [...results].filter(([name]) => names.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { results: Object.fromEntries(kept), problems };
}

const titlesOf = ({ tests }: Client): readonly string[] => Object.values(tests).flat();

/**
 * One line for each client whose recorded results are of other versions or tests, and for each without tests or a reason. A client
 * without results is accepted: the table says so.
 */
export function findStale(doors: readonly Door[], results: Results): readonly string[] {
  return doors
    .flatMap(({ clients }) => clients)
    .flatMap((client) => {
      const { limits, name, tests } = client;
      if (Object.keys(tests).length === 0)
        return limits === undefined ? [`${name} has neither tests nor a reason.`] : [];
      const versions = versionsOf(client);
      const last = results[name];
      if (last === undefined) return [];
      if (last.versions !== versions) return [`${name} ${versions}: the last results are of ${last.versions}.`];
      const missing = titlesOf(client).filter((title) => !last.named.includes(title));
      return missing.map((title) => `${name}: the last results do not include the test "${title}".`);
    });
}

/**
 * True for a test of a client that was skipped although its titles name no missing component.
 * @param fullName - its title with those of the groups around it.
 */
export function isReasonless(outcome: Outcome, fullName: string): boolean {
  if (outcome.state !== "skipped" || fullName.includes("(skipped, ")) return false;
  return allDoors
    .flatMap(({ clients }) => clients)
    .some((client) => namedTests(client).some(([file, named]) => outcomesOf(file, named, [outcome]).length > 0));
}
