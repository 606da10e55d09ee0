import type { Browser, BrowserStats } from "@shoal/schemas";
import { call } from "../../../connection/call.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../../core/types.ts";

/** A session with its load; fields are absent if the session did not answer. */
export interface TopRow {
  readonly id: string;
  /** The name, or the id. */
  readonly label: string;
  readonly cpuPercent?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly pages?: number | undefined;
  readonly clients?: number | undefined;
  readonly startedMs: number;
  /** `Infinity` while it is in use. */
  readonly usedMs: number;
  readonly address: string;
}

export interface TopSpecs {
  readonly list: CommandSpec;
  readonly stats: CommandSpec;
}

export interface TopLoad {
  readonly rows: readonly TopRow[];
  /** Whether there are more sessions than {@link maxRows}. */
  readonly isCut: boolean;
}

/** The largest page of the list. */
export const maxRows = 100;
const maxConcurrent = 8;

/** Reads the newest sessions and their load. */
export async function loadRows({ list, stats }: TopSpecs, flags: GlobalFlags, run: Run): Promise<TopLoad> {
  const answer = await call(list, { params: {}, query: { limit: maxRows }, body: undefined }, flags, run);
  // The contract's types.
  const sessions = answer.value as readonly Browser[];
  const rows: TopRow[] = [];
  for (let at = 0; at < sessions.length; at += maxConcurrent) {
    const some = sessions.slice(at, at + maxConcurrent).map(async (session) => {
      const request = { params: { id: session.session_id }, query: {}, body: undefined };
      // It may have ended meanwhile.
      const load = await call(stats, request, flags, run).catch(() => undefined);
      return rowOf(session, load?.value as BrowserStats | undefined);
    });
    rows.push(...(await Promise.all(some)));
  }
  return { rows, isCut: answer.next !== undefined };
}

function rowOf(session: Browser, load: BrowserStats | undefined): TopRow {
  const { created_at, expires_at, name, page_url = "", session_id, timeout_seconds } = session;
  return {
    id: session_id,
    label: name ?? session_id,
    cpuPercent: load?.cpu_pct,
    memoryBytes: load?.mem_bytes,
    pages: load?.pages,
    clients: load === undefined ? undefined : load.clients + load.viewers,
    startedMs: Date.parse(created_at),
    usedMs: expires_at === undefined ? Infinity : Date.parse(expires_at) - timeout_seconds * 1000,
    address: page_url,
  };
}
