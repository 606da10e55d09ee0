import { joinLocations } from "@shoal/contract/network";
import type { ControlOperationsOf, Page } from "@shoal/contract";
import { capturedAtStart, defaultCategories, shownCategories } from "@shoal/contract/captured";
import {
  browserEnded,
  browserHasProfile,
  browserNameTaken,
  browserNotFound,
  browserOfEndedInvocation,
  browserOfMissingInvocation,
  exactForkUnavailable,
  notForkable,
  profileHasWriter,
  profileNotFound,
  projectSessionsExhausted,
  whyNotExact,
} from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError, type Handlers } from "@shoal/router";
import type {
  Browser,
  BrowserViewport,
  CreateBrowser,
  ForkBrowser,
  ForkedBrowsers,
  ListBrowsers,
  UpdateBrowser,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import { FileTree } from "../files/file-tree.ts";
import { Watches } from "../files/watches.ts";
import type { Access } from "../state/access.ts";
import { endHandoff } from "../state/handoffs.ts";
import { holds, pageOf } from "../state/listing.ts";
import { serviceDefaults, type SessionRow, type Store } from "../state/store.ts";
import { recordEvent } from "../state/webhooks.ts";
import { region, toBrowser } from "../sessions/browser-answer.ts";
import {
  changedAllowlistOf,
  networkRulesOf,
  newAllowlistOf,
  refuseOutsidePage,
  refuseImpossible,
  refusePage,
  refuseForkable,
  refuseSharing,
  refuseUnavailable,
  refuseUnsupported,
  locationOf,
  sessionLocation,
} from "../sessions/browser-options.ts";
import { seenAfter, seenFields } from "../sessions/seen-change.ts";
import { findProfile } from "./profiles.ts";

type Create = z.output<typeof CreateBrowser>;

const defaultViewport = { width: 1920, height: 1080 };
const defaultTimeoutSeconds = 60;

/** Returns the running session for an operation on its files. @throws {ServiceError} 404 with the reason. */
export function runningSession(store: Store, projectId: string, idOrName: string): SessionRow {
  const found = store.findSession(projectId, idOrName);
  if (found === undefined) throw ServiceError.of(browserNotFound(idOrName));
  if (found.ended !== undefined) throw ServiceError.of(browserEnded(found.id, found.ended));
  return found;
}

/** Ends a session with its watches and frees its name. */
export function endSession({ webhooks }: Pick<Store, "webhooks">, row: SessionRow, reason: string): void {
  if (row.ended !== undefined) return;
  const at = new Date().toISOString();
  row.ended = { at, reason };
  row.watches.close();
  endHandoff({ webhooks }, row, { status: "canceled" });
  const data = {
    session_id: row.id,
    name: row.name,
    tags: row.tags,
    region,
    created_at: row.createdAt,
    ended_at: at,
    ended_reason: reason,
    profile_id: row.profile?.row.id ?? null,
    pool_id: null,
    invocation_id: row.invocationId ?? null,
  };
  recordEvent(webhooks, row.projectId, { type: "browser.ended", data });
}

function sizeOf({ height, refresh_rate, width }: z.output<typeof BrowserViewport>): SessionRow["viewport"] {
  return { width, height, ...(refresh_rate !== undefined && { refresh_rate }) };
}

function maxDurationOf(seconds: number | undefined): SessionRow["maxDuration"] {
  return seconds === undefined ? undefined : { seconds, endsAtMs: Date.now() + seconds * 1000 };
}

/** Sessions are records with files: no browser starts, and `cdp_ws_url` does not connect. */
class FakeBrowsers {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  create(body: Create, { baseUrl, key, projectId }: Access): Browser {
    refuseUnsupported(body);
    refuseUnavailable(body);
    networkRulesOf(body.network);
    refuseOutsidePage(body.start_url, newAllowlistOf(body.network));
    if (body.invocation_id) this.#requireActive(projectId, body.invocation_id);
    this.#requireRoom(projectId);
    if (body.name !== undefined) this.#refuseTaken(projectId, body.name);
    const row = this.#newSession(body, {
      apiKeyId: key.id,
      projectId,
      profile: this.#profileFor(projectId, body.profile),
    });
    this.#store.sessions.push(row);
    return toBrowser(row, baseUrl);
  }

  list(query: z.output<typeof ListBrowsers>, { baseUrl, projectId }: Access): Page<Browser> {
    const { limit, offset, query: part, tags = {} } = query;
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still accepted
    const status = query.include_deleted ? "all" : query.status;
    const found = this.#store.sessions
      .filter(
        (session) =>
          session.projectId === projectId &&
          (status === "all" || (session.ended === undefined) === (status === "active")),
      )
      .filter((session) => Object.entries(tags).every(([key, value]) => session.tags[key] === value))
      .filter(() => query.region === undefined || query.region === region)
      // The fake service has no pools.
      .filter(() => query.pool === undefined)
      .filter((session) => part === undefined || holds(session.name, part) || holds(session.id, part))
      .reverse();
    return pageOf(found, { limit, offset }, (row) => toBrowser(row, baseUrl));
  }

  get(idOrName: string, includeDeleted: boolean, { baseUrl, projectId }: Access): Browser {
    const found = this.#store.findSession(projectId, idOrName);
    if (found === undefined || (found.ended !== undefined && !includeDeleted))
      throw ServiceError.of(browserNotFound(idOrName));
    return toBrowser(found, baseUrl);
  }

  update(idOrName: string, body: z.output<typeof UpdateBrowser>, { baseUrl, projectId }: Access): Browser {
    refuseUnsupported(body);
    refuseImpossible({ start_url: undefined, viewport: body.viewport });
    refusePage(body.start_url);
    const row = this.#existing(projectId, idOrName);
    if (row.shown.isolation === "context") refuseSharing({ ...body, ...seenFields(body) });
    if (row.forkable) refuseForkable({ ...body, ...seenFields(body) });
    const network = networkRulesOf(body.network, row.network);
    const allowlist = changedAllowlistOf(body.network, row.allowlist);
    refuseOutsidePage(body.start_url, allowlist);
    if (body.profile !== undefined && row.profile !== undefined)
      throw ServiceError.of(browserHasProfile(row.id, row.profile.row.id));
    if (typeof body.name === "string") this.#refuseTaken(projectId, body.name, row);
    const profile = this.#profileFor(projectId, body.profile);
    const seen = seenAfter(body, row.shown);
    if (body.name !== undefined) row.name = body.name;
    if (body.tags) row.tags = body.tags;
    if (body.disconnect_timeout_seconds !== undefined)
      row.disconnectTimeoutSeconds = body.disconnect_timeout_seconds ?? undefined;
    if (body.sleep_after_seconds !== undefined) row.sleepAfterSeconds = body.sleep_after_seconds;
    if (body.viewport !== undefined) row.viewport = sizeOf(body.viewport);
    row.shown = { ...seen, ...(body.start_url && { start_url: body.start_url }) };
    if (body.network !== undefined) Object.assign(row, { allowlist, network });
    if (profile !== undefined) row.profile = profile;
    return toBrowser(row, baseUrl);
  }

  extend(idOrName: string, seconds: number | undefined, { baseUrl, projectId }: Access): Browser {
    const row = this.#existing(projectId, idOrName);
    row.maxDuration = maxDurationOf(seconds ?? row.maxDuration?.seconds);
    return toBrowser(row, baseUrl);
  }

  /** Forks have the settings of their parent, and no pages. */
  fork(idOrName: string, body: z.output<typeof ForkBrowser>, { baseUrl, key, projectId }: Access): ForkedBrowsers {
    const { mode, names = [], count = Math.max(names.length, 1) } = body;
    const parent = this.#existing(projectId, idOrName);
    if (parent.shown.isolation === "context")
      throw ServiceError.of(notForkable(parent.id, "it shares its browser with other sessions"));
    const canBeExact = parent.forkable;
    if (mode === "exact" && !canBeExact) throw ServiceError.of(exactForkUnavailable());
    const browsers: Browser[] = [];
    const failures: { readonly index: number; readonly error: ServiceError }[] = [];
    for (let index = 0; index < count; index += 1) {
      try {
        const row = this.#forkOf(parent, {
          apiKeyId: key.id,
          name: names[index] ?? null,
          timeout: body.timeout_seconds,
        });
        browsers.push(toBrowser(row, baseUrl));
      } catch (error) {
        if (!ServiceError.isInstance(error)) throw error;
        failures.push({ index, error });
      }
    }
    const [first] = failures;
    if (browsers.length === 0 && first !== undefined) throw first.error;
    return {
      mode: mode !== "restored" && canBeExact ? "exact" : "restored",
      ...(mode === "best" && !canBeExact && { not_exact_because: whyNotExact }),
      paused_ms: 0,
      browsers,
      ...(failures.length > 0 && {
        errors: failures.map(({ error: { code, message }, index }) => ({ index, code, message })),
      }),
    };
  }

  #forkOf(
    parent: SessionRow,
    { apiKeyId, name, timeout }: Pick<SessionRow, "apiKeyId" | "name"> & { readonly timeout: number | undefined },
  ): SessionRow {
    this.#requireRoom(parent.projectId);
    if (name !== null) this.#refuseTaken(parent.projectId, name);
    const files = new FileTree();
    const { start_url: _opened, ...shown } = parent.shown;
    const row: SessionRow = {
      ...parent,
      id: createId(),
      apiKeyId,
      name,
      tags: { ...parent.tags },
      createdAt: new Date().toISOString(),
      timeoutSeconds: timeout ?? parent.timeoutSeconds,
      maxDuration: maxDurationOf(parent.maxDuration?.seconds),
      profile: parent.profile && { ...parent.profile, savesChanges: false },
      shown: { ...shown, forked_from: parent.id },
      files,
      watches: new Watches(files),
      handoffs: [],
      links: [],
    };
    this.#store.sessions.push(row);
    return row;
  }

  delete(idOrName: string, { projectId }: Access): void {
    endSession(this.#store, this.#existing(projectId, idOrName), "deleted");
  }

  #running(projectId: string): SessionRow[] {
    return this.#store.sessions.filter((session) => session.projectId === projectId && session.ended === undefined);
  }

  #requireRoom(projectId: string): void {
    const limit = this.#store.projects.find(({ id }) => id === projectId)?.limits.sessions ?? 0;
    const used = this.#running(projectId).length;
    if (limit > 0 && used >= limit) throw ServiceError.of(projectSessionsExhausted(limit, used));
  }

  #existing(projectId: string, idOrName: string): SessionRow {
    const found = this.#store.findSession(projectId, idOrName);
    if (found === undefined || found.ended !== undefined) throw ServiceError.of(browserNotFound(idOrName));
    return found;
  }

  #requireActive(projectId: string, invocationId: string): void {
    const found = this.#store.invocations.find((row) => row.id === invocationId && row.projectId === projectId);
    if (found === undefined) throw ServiceError.of(browserOfMissingInvocation(invocationId));
    if (found.finishedAt !== null) throw ServiceError.of(browserOfEndedInvocation(invocationId));
  }

  #refuseTaken(projectId: string, name: string, but?: SessionRow): void {
    if (this.#running(projectId).some((session) => session !== but && session.name === name))
      throw ServiceError.of(browserNameTaken(name));
  }

  #profileFor(projectId: string, asked: Create["profile"]): SessionRow["profile"] {
    if (asked === undefined) return undefined;
    const wanted = asked.id ?? asked.name ?? "";
    const row = findProfile(this.#store, projectId, wanted);
    // An id must not match another profile's name, or vice versa.
    if (asked.id === undefined ? row.name !== asked.name : row.id !== asked.id)
      throw ServiceError.of(profileNotFound(wanted));
    const writer = this.#running(projectId).find(({ profile }) => profile?.row === row && profile.savesChanges);
    if (asked.save_changes && writer !== undefined) throw ServiceError.of(profileHasWriter(row.id, writer.id));
    row.lastUsedAt = new Date().toISOString();
    return { row, savesChanges: asked.save_changes };
  }

  /** What a service would capture: the fake captures nothing. */
  #telemetryOf(projectId: string, { stealth, telemetry }: Create): Pick<Browser, "telemetry"> {
    const project = this.#store.projects.find(({ id }) => id === projectId);
    const parts = project?.defaultTelemetry ?? serviceDefaults.default_telemetry;
    const outcome = capturedAtStart(telemetry, defaultCategories(parts, stealth));
    if ("refusal" in outcome) throw ServiceError.of(outcome.refusal);
    return outcome.captured === undefined ? {} : { telemetry: shownCategories(outcome.captured) };
  }

  #newSession(
    body: Create,
    { apiKeyId, profile, projectId }: Pick<SessionRow, "apiKeyId" | "profile" | "projectId">,
  ): SessionRow {
    const {
      chrome_policy,
      forkable,
      gpu,
      headless = true,
      isolation,
      kiosk_mode,
      memory,
      start_url,
      stealth = false,
    } = body;
    const files = new FileTree();
    const conditions = { ...profile?.row.conditions, ...body.conditions };
    const location = sessionLocation(joinLocations(locationOf(body.location), profile?.row.location));
    return {
      id: createId(),
      projectId,
      apiKeyId,
      invocationId: body.invocation_id === "" ? undefined : body.invocation_id,
      name: body.name ?? null,
      tags: body.tags ?? {},
      createdAt: new Date().toISOString(),
      timeoutSeconds: body.timeout_seconds ?? defaultTimeoutSeconds,
      maxDuration: maxDurationOf(body.max_duration_seconds),
      disconnectTimeoutSeconds: body.disconnect_timeout_seconds,
      sleepAfterSeconds: body.sleep_after_seconds ?? 0,
      viewport: sizeOf(body.viewport ?? defaultViewport),
      profile,
      forkable: forkable === true,
      network: networkRulesOf(body.network),
      allowlist: newAllowlistOf(body.network),
      shown: {
        headless,
        stealth,
        ...(chrome_policy && { chrome_policy }),
        ...(gpu !== undefined && { gpu }),
        ...(isolation === "context" && { isolation }),
        ...(body.connect_timeout_seconds !== undefined && { connect_timeout_seconds: body.connect_timeout_seconds }),
        ...(kiosk_mode !== undefined && { kiosk_mode }),
        ...(memory !== undefined && { memory }),
        ...(location && { location }),
        ...(Object.keys(conditions).length > 0 && { conditions }),
        ...(start_url !== undefined && { start_url }),
        ...this.#telemetryOf(projectId, body),
      },
      ended: undefined,
      files,
      watches: new Watches(files),
      handoffs: [],
      links: [],
    };
  }
}

export function browserHandlers(
  store: Store,
): Handlers<
  Omit<ControlOperationsOf<"browsers">, "downloadEvidence" | "renderPage" | "saveBrowserProfile" | "snapshotBrowser">,
  Access
> {
  const browsers = new FakeBrowsers(store);
  return {
    createBrowser: ({ body, context }) => browsers.create(body, context),
    listBrowsers: ({ query, context }) => browsers.list(query, context),
    getBrowser: ({ params, query, context }) => browsers.get(params.id_or_name, query.include_deleted, context),
    updateBrowser: ({ params, body, context }) => browsers.update(params.id_or_name, body, context),
    forkBrowser: ({ params, body, context }) => browsers.fork(params.id_or_name, body, context),
    extendBrowser: ({ params, body, context }) =>
      browsers.extend(params.id_or_name, body.max_duration_seconds, context),
    deleteBrowser: ({ params, context }) => {
      browsers.delete(params.id_or_name, context);
    },
  };
}
