import type { Client, Door } from "./client.ts";
import { doors as allDoors } from "./doors.ts";

/** The last run of a client's tests that passed. */
export interface Result {
  /** Of the client in that run. */
  readonly versions: string;
  /** Tests that passed, none of them skipped. */
  readonly tests: number;
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

/**
 * The earlier results with those of the clients whose tests are all among the outcomes.
 * @throws if one of these tests did not pass.
 */
export function recordResults(doors: readonly Door[], earlier: Results, outcomes: readonly Outcome[]): Results {
  const results = new Map(Object.entries(earlier));
  for (const client of doors.flatMap(({ clients }) => clients)) {
    const found = namedTests(client).map(([file, named]) => outcomesOf(file, named, outcomes));
    if (found.length === 0 || found.some((each) => each.length === 0)) continue;
    const failed = found.flat().find(({ state }) => state !== "passed");
    if (failed !== undefined) throw new Error(`${client.name}: ${failed.file} > ${failed.title}: ${failed.state}`);
    results.set(client.name, { versions: versionsOf(client), tests: found.flat().length });
  }
  const names = new Set(doors.flatMap(({ clients }) => clients.map(({ name }) => name)));
  return Object.fromEntries([...results].filter(([name]) => names.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** One line for each client whose recorded results are of other versions, and for each without tests or a reason. */
export function findStale(doors: readonly Door[], results: Results): readonly string[] {
  return doors
    .flatMap(({ clients }) => clients)
    .flatMap((client) => {
      const { limits, name, tests } = client;
      if (Object.keys(tests).length === 0)
        return limits === undefined ? [`${name} has neither tests nor a reason.`] : [];
      const versions = versionsOf(client);
      const tested = results[name]?.versions ?? versions;
      return tested === versions ? [] : [`${name} ${versions}: the last results are of ${tested}.`];
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
