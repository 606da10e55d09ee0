import type { Instance } from "@shoal/placement";
import type { CreateBrowser, EndedReason } from "@shoal/schemas";
import type * as z from "zod/mini";
import { type CapturedCategories, selectCategories } from "../telemetry/categories.ts";
import type { Collector } from "../telemetry/collector.ts";
import type { SessionExport } from "../telemetry-export/session-export.ts";
import type { SessionRow } from "./session-store.ts";

/** A session that runs on this server, or is about to. */
export interface RunningSession {
  row: SessionRow;
  /** Absent while it starts. */
  instance: Instance | undefined;
  /** Since when nobody uses it, epoch milliseconds; `null` while somebody does. */
  idleSinceMs: number | null;
  /** What its telemetry captures; `undefined` = nothing. */
  captured: CapturedCategories | undefined;
  /** Present since something was first captured. */
  collector: Collector | undefined;
  /** Sends what is captured to the session's destination, where it has one. */
  exporting: SessionExport | undefined;
  /** The latest change of what is captured: one follows the other. */
  switching: Promise<unknown>;
  /** Set as soon as its end has begun. */
  ending:
    | {
        readonly reason: EndedReason;
        readonly at: string;
        /** Everything of it has been told to die, and its row says that it has ended. */
        readonly recorded: Promise<void>;
        /** And nothing of it is left. */
        readonly done: Promise<void>;
      }
    | undefined;
  /** Gives up the start. */
  readonly abort: AbortController;
  /** Ends it although it is used. On a clock that nobody sets, unlike the moment that is told. */
  endTimer: NodeJS.Timeout | undefined;
  /** Stops saving its profile from time to time. */
  stopKeeping: (() => void) | undefined;
}

/** A session as it is shown: its row, and what only this server knows. */
export interface SessionView {
  readonly row: SessionRow;
  /** When it will end if nobody uses it until then. */
  readonly expiresAt: Date | undefined;
  /** What its telemetry captures; `undefined` = nothing. */
  readonly captured: CapturedCategories | undefined;
}

/** What a session of a pool is made of. */
export type PooledRequest = Pick<
  z.output<typeof CreateBrowser>,
  "chrome_policy" | "extensions" | "headless" | "kiosk_mode" | "network" | "proxy_id" | "start_url" | "stealth" | "telemetry" | "viewport"
> & {
  /** The extensions that were found for `extensions`. */
  readonly extension_ids?: readonly string[];
  /** The profile that was found for what the request names. */
  readonly profile_id?: string | undefined;
  /** The destination that was found for what `telemetry` names. */
  readonly telemetry_destination_id?: string | undefined;
};

/** One that is about to start. @throws {ServiceError} 400 for telemetry that contradicts itself. */
export function newSession(row: SessionRow, telemetry: PooledRequest["telemetry"]): RunningSession {
  return {
    row,
    instance: undefined,
    idleSinceMs: null,
    captured: selectCategories(telemetry, undefined),
    collector: undefined,
    exporting: undefined,
    switching: Promise.resolve(),
    ending: undefined,
    abort: new AbortController(),
    endTimer: undefined,
    stopKeeping: undefined,
  };
}
