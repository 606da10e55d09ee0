import type { SessionLifecycle } from "@shoal/database";
import type { Instance } from "@shoal/placement";
import type { BrowserConditions, BrowserOrigin, CreateBrowser, CreateProxy, EndedReason } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { LiveFields } from "../../cluster/live-fields.ts";
import { type CapturedCategories, namesOf } from "../telemetry/categories.ts";
import type { Collector } from "../telemetry/collector.ts";
import type { SessionExport } from "../telemetry/export/session-export.ts";
import type { ClientPresence } from "./clients/client-presence.ts";
import type { OutsideUse } from "./clients/outside-use.ts";
import type { SessionOptions } from "./options/session-options.ts";
import type { SessionRow } from "./session-store.ts";

export interface RunningSession {
  row: SessionRow;
  instance: Instance | undefined;
  /** Resolves after the attempt to insert its row: an end that is written earlier would find no row. */
  inserted: Promise<unknown> | undefined;
  /** `null` while a client uses the session. */
  idleSinceMs: number | null;
  pageUrl: string | undefined;
  captured: CapturedCategories | undefined;
  collector: Collector | undefined;
  exporting: SessionExport | undefined;
  ending:
    | {
        readonly reason: EndedReason;
        readonly at: string;
        /** The row says that the session has ended, and its processes received the signal to stop. */
        readonly recorded: Promise<void>;
        /** Whether the profile was saved; `undefined` when it was not to be saved. */
        readonly saved: Promise<boolean> | undefined;
        readonly done: Promise<void>;
      }
    | undefined;
  lifecycle: SessionLifecycle;
  /** Present once the instance has started. */
  presence: ClientPresence | undefined;
  outsideUse: OutsideUse | undefined;
  readonly abort: AbortController;
  /** Ends the session at its `max_duration_seconds`. A timer, because the system clock behind `ends_at` can be set. */
  endTimer: NodeJS.Timeout | undefined;
  /** `false`: its profile is saved only if {@link Sessions.endSaving} ends it. */
  savesAtEnd: boolean;
  stopKeeping: (() => void) | undefined;
}

/** A row, and the fields that only the session's server has. */
export interface SessionView {
  readonly row: SessionRow;
  /** When the session ends if it stays unused. */
  readonly expiresAt: Date | undefined;
  readonly captured: CapturedCategories | undefined;
  readonly pageUrl: string | undefined;
  /** `undefined` while it is awake. */
  readonly asleepSinceMs: number | undefined;
}

export type PooledRequest = Pick<
  z.output<typeof CreateBrowser>,
  | "chrome_policy"
  | "extensions"
  | "headless"
  | "kiosk_mode"
  | "location"
  | "memory"
  | "network"
  | "proxy_id"
  | "recording"
  | "sleep_after_seconds"
  | "start_url"
  | "stealth"
  | "telemetry"
  | "viewport"
  | "web_bot_auth"
> & {
  readonly conditions?: BrowserConditions | undefined;
  readonly extension_ids?: readonly string[];
  readonly exit_timezone?: string | undefined;
  readonly profile_id?: string | undefined;
  readonly telemetry_destination_id?: string | undefined;
  readonly vaults?: SessionOptions["vaults"];
};

export interface SessionWishes {
  /** `false`: the session leaves its profile as it was, unless {@link Sessions.endSaving} ends it. */
  readonly savesAtEnd?: boolean;
  /** A managed login types secrets in it: see `SignInBrowsers`. */
  readonly signsIn?: boolean;
  /** The key that its usage is charged to; absent = the service itself. */
  readonly apiKeyId?: string;
  /** Of the new session, if an address already names it. */
  readonly id?: string;
  /** The client of another service that creates it. */
  readonly origin?: BrowserOrigin;
  /** The caller may use stored values, for `network.headers` and `network.http_auth`. */
  readonly usesSecrets?: boolean;
  /** The caller may use the items of vaults. */
  readonly usesVaults?: boolean;
  /** Receives the session of the snapshot to start from. @throws {ServiceError} 403 if the caller may not. */
  readonly requireOriginal?: (original: SessionRow) => void;
  /** A proxy of this session alone, which is not stored. */
  readonly proxy?: z.output<typeof CreateProxy>;
}

function wishedOptions(options: SessionOptions, { origin, signsIn }: SessionWishes): SessionOptions {
  return { ...options, ...(signsIn === true && { signs_in: true }), ...(origin && { origin }) };
}

export function newSession(
  row: SessionRow,
  captured: CapturedCategories | undefined,
  wishes: SessionWishes = {},
): RunningSession {
  return {
    row: { ...row, options: wishedOptions(row.options, wishes) },
    instance: undefined,
    inserted: undefined,
    idleSinceMs: null,
    pageUrl: undefined,
    captured,
    collector: undefined,
    exporting: undefined,
    ending: undefined,
    lifecycle: {},
    presence: undefined,
    outsideUse: undefined,
    abort: new AbortController(),
    endTimer: undefined,
    savesAtEnd: wishes.savesAtEnd ?? true,
    stopKeeping: undefined,
  };
}

export function liveFieldsOf({ captured, idleSinceMs, instance, pageUrl, row }: RunningSession): LiveFields {
  const asleepSinceMs = instance?.sleep.asleepSinceMs;
  return {
    id: row.id,
    idleSinceMs,
    captured: namesOf(captured),
    ...(pageUrl !== undefined && { pageUrl }),
    ...(asleepSinceMs !== undefined && { asleepSinceMs }),
  };
}
