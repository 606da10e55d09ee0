import { invalid, nameTaken, notFound, type Refusal } from "./refusal.ts";

/** 404 for a session that the caller cannot see. */
export function browserNotFound(idOrName: string): Refusal {
  return notFound(
    `Browser ${idOrName} was not found among the running sessions of this project.`,
    "It may have ended; list them with browsers.list, ended ones with the status all.",
  );
}

/** 404 for a session without a picture of its end. */
export function noLastPicture(id: string): Refusal {
  return notFound(
    `Browser ${id} has no last picture.`,
    "It is taken when a session with the telemetry category page ends, of a page that is not empty, unless a stored value was typed. For a running session, call browsers.screenshot.",
  );
}

const endings: Readonly<Record<string, string>> = {
  deleted: "it was deleted",
  timeout: "no client used it for its timeout_seconds",
  max_duration: "its max_duration_seconds were over",
  disconnected: "its last client left, or none came in time",
  browser_crashed: "its browser crashed twice",
  instance_lost: "its instance was lost",
  server_stopped: "the server was stopped",
};

/** 404 for a session that has ended. @param ended - `reason` and time, as far as they are known. */
export function browserEnded(
  id: string,
  { reason, at }: { readonly reason: string | null; readonly at: string | null },
): Refusal {
  const because = reason === null ? "" : ` (${reason}): ${endings[reason] ?? reason}`;
  return notFound(
    `Browser ${id} has ended${at === null ? "" : ` at ${at}`}${because}.`,
    "Create a new session with browsers.create.",
  );
}

/** 409 for the name of another running session of the project. */
export function browserNameTaken(name: string): Refusal {
  return nameTaken(
    `A running session of this project is named ${name} already.`,
    "Choose another name, or delete that session.",
  );
}

/**
 * 400 for a side of the viewport over the limit, which is in pixels.
 * @param options - `windowed`: the limit applies to browsers with a window only.
 */
export function viewportTooLarge(
  side: "width" | "height",
  limit: number,
  { windowed = false }: { readonly windowed?: boolean } = {},
): Refusal {
  return invalid(
    `body.viewport.${side}`,
    `expected at most ${String(limit)}${windowed ? " for a browser with a window" : ""}`,
    { limit },
  );
}

/** 400 for a session with a GPU. */
export function gpuUnavailable(): Refusal {
  return invalid("body.gpu", "sessions of this service have no GPU; Chromium draws with the processor", {
    hint: "Omit the field, or send false.",
  });
}

/** Sizes that requests may choose; others only appear in answers. */
/** Sizes of memory that sessions can have. */
export const memoryChoices = { headless: ["1GiB", "2GiB", "4GiB"], windowed: ["8GiB", "16GiB"] } as const;

/** 400 for a size of memory that no such session can have. */
export function refuseMemorySize({
  headless = true,
  memory,
}: {
  readonly headless?: boolean | undefined;
  readonly memory?: string | undefined;
}): Refusal | undefined {
  if (memory === undefined) return undefined;
  const { headless: small, windowed } = memoryChoices;
  const choices: readonly string[] = headless ? small : windowed;
  if (choices.includes(memory)) return undefined;
  const isOther = headless && windowed.some((size) => size === memory);
  return invalid(
    "body.memory",
    isOther
      ? `${memory} needs headless: false; a session without a window can have ${small.join(", ")}`
      : `a session ${headless ? "without" : "with"} a window can have ${choices.join(", ")}`,
    { limit: choices.join(", "), hint: "Omit the field for the limit of the service." },
  );
}

/** 400 for a region without a running server. @param regions - the regions with a server. */
export function regionUnavailable(region: string, regions: readonly string[]): Refusal {
  const limit = regions.join(", ");
  return invalid("body.region", `region ${region} has no running server; regions with a server: ${limit}`, {
    limit,
    hint: "Omit the field to use the region of the answering server.",
  });
}

/** 429 for a session over the limit of the project. */
export function projectSessionsExhausted(limit: number, used: number): Refusal {
  return {
    status: 429,
    code: "too_many_requests",
    problem: `This project has ${String(used)} running sessions; the limit is ${String(limit)}.`,
    hint: "Delete a session, wait until one ends, or raise the limit with projects.limits.update, or for all projects with organization.limits.update, or with the setting max_sessions_per_project.",
    retryAfterSeconds: 5,
    fields: { limit, used, remaining: Math.max(0, limit - used) },
  };
}

/** 409 for a session whose id is in use. */
export function browserIdTaken(id: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Browser ${id} exists already.`,
    hint: "Connect to it, or create another.",
  };
}

/** 409 for loading a profile into a session that has one. */
export function browserHasProfile(sessionId: string, profileId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Browser ${sessionId} already has profile ${profileId}.`,
    hint: "Only a session without a profile can load one. Create another session with browsers.create.",
  };
}

/** 409 for saving the profile of a session that does not write to one. */
export function browserSavesNothing(sessionId: string, profileId: string | null): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Browser ${sessionId} does not save to a profile.`,
    hint:
      profileId === null
        ? "Load one with browsers.update, with profile.save_changes."
        : "It only reads its profile, as every fork does. Save the session that it was forked from, or create one with profile.save_changes.",
  };
}

/** 409 for a second handoff of a session. */
export function handoffActive(sessionId: string): Refusal {
  return {
    status: 409,
    code: "handoff_active",
    problem: `Browser ${sessionId} has an active handoff to a person.`,
    hint: "Wait for its end with browsers.handoff.get, or end it with browsers.handoff.release.",
  };
}

/** 409 for a stop of a recording that `default_recording` started. */
export function defaultRecordingStays(replayId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Recording ${replayId} runs because of default_recording, and ends with its session.`,
    hint: "Create sessions without it with recording: { video: false }. A recording that browsers.replays.start started can be stopped.",
  };
}

/** 404 for a session without a handoff. */
export function handoffNotFound(sessionId: string): Refusal {
  return notFound(`Browser ${sessionId} has no handoff.`, "Request one with browsers.handoff.request.");
}

/** 404 for an expired, revoked or unknown link. */
export function liveViewLinkNotFound(id: string): Refusal {
  return notFound(`Live view link ${id} was not found in this session.`, "List them with browsers.liveViewLinks.list.");
}

/** 409 for a link over the limit of the session. */
export function tooManyLiveViewLinks(limit: number): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `The session has ${String(limit)} valid live view links, the limit.`,
    limit,
    hint: "Delete one with browsers.liveViewLinks.delete.",
  };
}

/** Options that a session in a shared browser cannot have. */
export interface OwnBrowserOptions {
  readonly chrome_policy?: object | undefined;
  readonly conditions?: object | undefined;
  readonly extensions?: readonly unknown[] | undefined;
  readonly headless?: boolean | undefined;
  readonly kiosk_mode?: boolean | undefined;
  readonly location?: object | undefined;
  readonly memory?: string | undefined;
  readonly profile?: object | undefined;
  readonly sleep_after_seconds?: number | undefined;
  readonly stealth?: boolean | undefined;
  readonly web_bot_auth?: { readonly enabled?: boolean | undefined } | undefined;
}

const ownBrowserOnly: readonly (readonly [
  field: keyof OwnBrowserOptions,
  isWanted: (options: OwnBrowserOptions) => boolean,
  reason: string,
])[] = [
  ["headless", ({ headless }) => headless === false, "a window shows the whole browser"],
  ["stealth", ({ stealth }) => stealth === true, "stealth starts the browser in another way"],
  ["kiosk_mode", ({ kiosk_mode }) => kiosk_mode === true, "a window shows the whole browser"],
  [
    "chrome_policy",
    ({ chrome_policy = {} }) => Object.keys(chrome_policy).length > 0,
    "policies apply to the whole browser",
  ],
  ["conditions", ({ conditions = {} }) => Object.keys(conditions).length > 0, "they apply to the whole browser"],
  ["extensions", ({ extensions = [] }) => extensions.length > 0, "extensions belong to the whole browser"],
  [
    "location",
    ({ location = {} }) => Object.keys(location).length > 0,
    "time zone and language belong to the whole browser",
  ],
  ["memory", ({ memory }) => memory !== undefined, "the limit applies to the whole browser"],
  ["profile", ({ profile }) => profile !== undefined, "a profile belongs to the whole browser"],
  ["web_bot_auth", ({ web_bot_auth }) => web_bot_auth?.enabled === true, "requests are signed for the whole browser"],
  [
    "sleep_after_seconds",
    ({ sleep_after_seconds = 0 }) => sleep_after_seconds > 0,
    "only a whole browser can be frozen",
  ],
];

/** 400 for a field that a session with `isolation: "context"` cannot have. */
export function needsOwnBrowser(field: string, reason: string): Refusal {
  return invalid(`body.${field}`, `not available with isolation: "context", because ${reason}`, {
    hint: "Omit the field, or omit isolation to get a separate browser.",
  });
}

/** Returns the 400 for the first option that needs a separate browser. */
export function refuseOwnBrowserOptions(options: OwnBrowserOptions): Refusal | undefined {
  const [field, , reason] = ownBrowserOnly.find(([, isWanted]) => isWanted(options)) ?? [];
  return field === undefined || reason === undefined ? undefined : needsOwnBrowser(field, reason);
}

/** 404 for a network recording that the caller cannot see. */
export function networkRecordingNotFound(id: string): Refusal {
  return notFound(
    `Network recording ${id} was not found in this project.`,
    "List the recordings with networkRecordings.list. They are deleted some days after their end (replay_retention_days).",
  );
}

/** 404 for a snapshot that the caller cannot see. */
export function snapshotNotFound(id: string): Refusal {
  return notFound(
    `Snapshot ${id} was not found in this project.`,
    "List the snapshots with snapshots.list. They are deleted some days after they were made (snapshot_retention_days).",
  );
}

/** 409 for an exact snapshot that this server cannot start. */
export function snapshotIncompatible(id: string, reason: string): Refusal {
  return {
    status: 409,
    code: "snapshot_incompatible",
    problem: `No session can start from snapshot ${id} here. ${reason}`,
    field: "body.snapshot",
    hint: "Use a server like the original one, or a snapshot with mode: restored, which every server can use.",
  };
}

const besideSnapshot: ReadonlySet<string> = new Set([
  ...["snapshot", "name", "tags", "timeout_seconds", "max_duration_seconds", "region"],
]);

/** Returns the 400 for the first field that a session from a snapshot cannot have. */
export function refuseBesideSnapshot(body: object): Refusal | undefined {
  if (!("snapshot" in body) || body.snapshot === undefined) return undefined;
  const [field] = Object.entries(body).find(([name, value]) => value !== undefined && !besideSnapshot.has(name)) ?? [];
  return field === undefined
    ? undefined
    : invalid(`body.${field}`, "not available with snapshot, because the session has the settings of the stored one", {
        hint: "Omit the field, or change the session later with browsers.update.",
      });
}

/** Options with which a session has no headless shell alone in a box. */
export interface FullBrowserOptions extends Omit<OwnBrowserOptions, "location"> {
  readonly isolation?: string | undefined;
  readonly location?: { readonly locale?: string | undefined } | undefined;
  readonly network?:
    | {
        readonly headers?: readonly unknown[] | null | undefined;
        readonly http_auth?: readonly unknown[] | null | undefined;
      }
    | undefined;
  readonly recording?: { readonly network?: boolean | undefined } | undefined;
  readonly replay?: object | undefined;
}

/** Returns the 400 for the first option that a session with `forkable: true` cannot have. */
export function refuseFullBrowserOptions(options: FullBrowserOptions): Refusal | undefined {
  const { chrome_policy: policy = {}, extensions = [], location } = options;
  const full = {
    headless: options.headless === false,
    stealth: options.stealth === true,
    kiosk_mode: options.kiosk_mode === true,
    isolation: options.isolation === "context",
    chrome_policy: Object.keys(policy).length > 0,
    extensions: extensions.length > 0,
    "location.locale": location?.locale !== undefined && location.locale !== "en-US",
    // A copied browser trusts the authority of its parent alone, and each session has a new one.
    "network.headers": (options.network?.headers ?? []).length > 0,
    "network.http_auth": (options.network?.http_auth ?? []).length > 0,
    recording: options.recording?.network === true,
    replay: options.replay !== undefined,
  };
  const field = Object.entries(full).find(([, isAsked]) => isAsked)?.[0];
  return field === undefined
    ? undefined
    : invalid(
        `body.${field}`,
        "not available with forkable: true, which needs a separate headless shell that trusts no authority of its session",
        {
          hint: "Omit the field, or create a session without forkable.",
        },
      );
}

/** Why most sessions have no exact forks. */
export const whyNotExact = "The session was not created with forkable: true.";

/** 501 for a fork with `mode: "exact"`. */
export function exactForkUnavailable(reason = whyNotExact): Refusal {
  return {
    status: 501,
    code: "not_implemented",
    problem: `an exact fork copies the processes of a session, which is not possible here. ${reason}`,
    field: "body.mode",
    hint: "Use restored, or best, which is exact where that is possible.",
  };
}

/** 409 for a fork with `mode: "exact"` that may be possible later. */
export function exactForkNotNow(id: string, reason: string, retryAfterSeconds?: number): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Browser ${id} cannot be copied now. ${reason}`,
    field: "body.mode",
    hint: "Try again later, or use restored, or best, which is exact where that is possible.",
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** 409 for a session whose state cannot be copied. */
export function notForkable(id: string, reason: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Browser ${id} cannot be forked, because ${reason}.`,
    hint: "Create a session with browsers.create, in a separate browser.",
  };
}
