import { formatBytes } from "../../../output/progress.ts";
import type { TopRow } from "./top-rows.ts";

export const sortNames = ["cpu", "memory", "pages", "clients", "age", "last use", "name"] as const;
export type SortName = (typeof sortNames)[number];

/** The table, its order and the selected session. */
export interface TopState {
  readonly rows: readonly TopRow[];
  readonly isCut: boolean;
  readonly sort: SortName;
  readonly reversed: boolean;
  readonly selected: string | undefined;
  /** The session that the user is asked about. */
  readonly asking: TopRow | undefined;
  readonly message: string;
}

export const firstState: TopState = {
  rows: [],
  isCut: false,
  sort: "cpu",
  reversed: false,
  selected: undefined,
  asking: undefined,
  message: "",
};

/** What a key does beyond the new state. */
export type TopAction = "none" | "quit" | { readonly end: TopRow };

const by: Readonly<Record<SortName, (row: TopRow) => number | string>> = {
  cpu: ({ cpuPercent }) => -(cpuPercent ?? -1),
  memory: ({ memoryBytes }) => -(memoryBytes ?? -1),
  pages: ({ pages }) => -(pages ?? -1),
  clients: ({ clients }) => -(clients ?? -1),
  age: ({ startedMs }) => startedMs,
  "last use": ({ usedMs }) => -usedMs,
  name: ({ label }) => label,
};

export function sorted({ reversed, rows, sort }: Pick<TopState, "reversed" | "rows" | "sort">): readonly TopRow[] {
  const key = by[sort];
  const ordered = rows.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)];
    return a < b ? -1 : a > b ? 1 : one.id < other.id ? -1 : 1;
  });
  return reversed ? ordered.reverse() : ordered;
}

export function withRows(state: TopState, rows: readonly TopRow[], isCut: boolean): TopState {
  const next = { ...state, rows, isCut };
  const isThere = rows.some(({ id }) => id === state.selected);
  return isThere ? next : { ...next, selected: sorted(next)[0]?.id };
}

/** Splits input of a terminal into keys: `k`, or an escape sequence. */
export function keysOf(input: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  return input.match(/\u001b\[[\d;]*[A-Za-z~]|\u001bO[A-Z]|[^]/gu) ?? [];
}

/** @param page - rows that fit on the screen. */
export function pressed(state: TopState, key: string, page: number): { state: TopState; action: TopAction } {
  if (state.asking !== undefined) return answered(state, key, state.asking);
  const steps = { "\u001b[A": -1, "\u001bOA": -1, "\u001b[B": 1, "\u001bOB": 1, "\u001b[5~": -page, "\u001b[6~": page }[
    key
  ];
  if (steps !== undefined) return { state: moved(state, steps), action: "none" };
  const calm = { ...state, message: "" };
  switch (key) {
    case "q":
    case "\u0003":
    case "\u0004":
      return { state, action: "quit" };
    case "s":
      return { state: { ...calm, sort: after(state.sort), reversed: false }, action: "none" };
    case "r":
      return { state: { ...calm, reversed: !state.reversed }, action: "none" };
    case "k": {
      const asking = state.rows.find(({ id }) => id === state.selected);
      return { state: { ...calm, asking }, action: "none" };
    }
    default:
      return { state, action: "none" };
  }
}

function answered(state: TopState, key: string, asking: TopRow): { state: TopState; action: TopAction } {
  const calm = { ...state, asking: undefined };
  if (key === "y" || key === "Y")
    return { state: { ...calm, message: `Ending ${asking.label}…` }, action: { end: asking } };
  return { state: { ...calm, message: "Nothing was ended." }, action: key === "\u0003" ? "quit" : "none" };
}

function moved(state: TopState, steps: number): TopState {
  const ordered = sorted(state);
  const at = ordered.findIndex(({ id }) => id === state.selected);
  const next = Math.min(Math.max(at + steps, 0), ordered.length - 1);
  return { ...state, selected: ordered[next]?.id };
}

function after(sort: SortName): SortName {
  return sortNames[(sortNames.indexOf(sort) + 1) % sortNames.length] ?? "cpu";
}

export function totalsOf(rows: readonly TopRow[]): string {
  const cpu = rows.reduce((sum, { cpuPercent = 0 }) => sum + cpuPercent, 0);
  const memory = rows.reduce((sum, { memoryBytes = 0 }) => sum + memoryBytes, 0);
  const count = rows.length === 1 ? "1 session" : `${String(rows.length)} sessions`;
  return `${count}  CPU ${cpu.toFixed(1)}%  memory ${formatBytes(memory)}`;
}
