import { notForkable, refuseBesideSnapshot, snapshotIncompatible } from "@shoal/contract/refusals";
import { type Placement, PlacementError } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, CreateSnapshot, Snapshot } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { SignInBrowsers, TypedValue } from "../../live-view/sign-in-browsers.ts";
import type { SnapshotStore, StoredSnapshot } from "../../snapshots/snapshot-store.ts";
import type { CapturedCategories } from "../../telemetry/categories.ts";
import { type EndCause, endOf } from "../lifecycle.ts";
import type { SessionView, SessionWishes } from "../running-session.ts";
import type { SessionRow } from "../session-store.ts";
import { incompatibleBecause } from "./copy-needs.ts";
import type { ForkCaller, ForkSource, SessionForks, SessionForksParts } from "./session-forks.ts";
import { UnpackedCopies, type UsedCopy } from "./unpacked-copies.ts";

export interface SessionSnapshotsParts extends Pick<SessionForksParts, "choices" | "log" | "runner"> {
  readonly forks: SessionForks;
  readonly snapshots: Pick<SnapshotStore, "add" | "find" | "reserve">;
  readonly placement: Pick<Placement, "copyNeeds" | "kind" | "sleep" | "unforkableBecause" | "unpack">;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteTyped" | "typedIn">;
  readonly serverId: string;
  readonly region: string;
}

/** Of the sessions that start from a snapshot: the row of its session, and what only its server knew. */
interface Settings {
  readonly row: SessionRow;
  readonly captured?: CapturedCategories | undefined;
  readonly typed?: TypedValue | undefined;
}

type Request = z.output<typeof CreateBrowser>;

interface SnapshotCaller extends ForkCaller, Pick<EndCause, "by"> {
  /** @throws {ServiceError} 403 if the caller may not end the session. */
  readonly requireStop: (parent: SessionRow) => void;
}

/** Stores the state of running sessions, and starts sessions from it. */
export class SessionSnapshots {
  readonly #parts: SessionSnapshotsParts;
  readonly #copies: UnpackedCopies;

  constructor(parts: SessionSnapshotsParts) {
    this.#parts = parts;
    this.#copies = new UnpackedCopies(parts.placement);
  }

  async take(
    projectId: string,
    idOrName: string,
    wishes: z.output<typeof CreateSnapshot>,
    by: SnapshotCaller,
  ): Promise<Snapshot> {
    const release = await this.#parts.snapshots.reserve(projectId);
    try {
      return await this.#take(projectId, idOrName, wishes, by);
    } finally {
      release();
    }
  }

  async #take(
    projectId: string,
    idOrName: string,
    { mode, name, stop }: z.output<typeof CreateSnapshot>,
    by: SnapshotCaller,
  ): Promise<Snapshot> {
    const { forks, signInBrowsers, snapshots } = this.#parts;
    // Before the session is paused.
    const requirePolicy = (parent: SessionRow): void => {
      by.requirePolicy(parent);
      if (stop) by.requireStop(parent);
      refuseOwnProxy(parent);
    };
    const reading = { mode, startsSessions: false };
    const source = await forks.read(projectId, idOrName, reading, { ...by, requirePolicy });
    try {
      const { captured, parent } = source;
      // After the state was read: a value that is typed later is not in it.
      const settings: Settings = { row: parent, captured, typed: signInBrowsers.typedIn(parent.id) };
      const { content, ...facts } = await this.#contentOf(source, by.signal);
      const about = { sessionId: parent.id, name, settings, notExactBecause: source.notExactBecause };
      const snapshot = await snapshots.add(projectId, { ...about, ...facts }, content, by.signal);
      if (stop) await this.#end(parent.id, by);
      return snapshot;
    } finally {
      await source.state.drop();
    }
  }

  async #end(id: string, { by }: Pick<EndCause, "by">): Promise<void> {
    const { log, runner } = this.#parts;
    const session = runner.sessions.get(id);
    try {
      if (session !== undefined) await runner.end(session, "deleted", { by }).recorded;
    } catch (error) {
      // The snapshot is stored, and the caller needs its id.
      log.error({ session_id: id, err: error }, "a session was not ended after its snapshot");
    }
  }

  async #contentOf({ state }: ForkSource, signal: AbortSignal) {
    if (!("copy" in state))
      return {
        content: await state.open(),
        engine: "restored",
        pausedMs: 0,
        unpackedBytes: 0,
        compatibility: undefined,
      } as const;
    const copy = await state.copy(signal);
    const compatibility = await this.#parts.placement.copyNeeds();
    const { archive, bytes } = await copy.pack();
    return { content: archive, engine: "exact", pausedMs: copy.pausedMs, unpackedBytes: bytes, compatibility } as const;
  }

  /** @throws {ServiceError} 400 for other settings, 404, 409 `snapshot_incompatible`. */
  async start(projectId: string, request: Request, signal: AbortSignal, wishes: SessionWishes): Promise<SessionView> {
    const { choices, forks, runner, signInBrowsers, snapshots } = this.#parts;
    const refusal = refuseBesideSnapshot(request);
    if (refusal !== undefined) throw ServiceError.of(refusal);
    const stored = await snapshots.find(projectId, request.snapshot?.id ?? "");
    const { captured, row, typed } = stored.row.settings as Settings;
    wishes.requireOriginal?.(row);
    const parent = { ...row, ...(await choices.remaining(row)), ...this.#changesOf(request, row, stored.row) };
    this.#refuseUnable(parent, stored.row.id);
    const { id: proxyId } = parent.proxy ?? {};
    // The same exit as its session had, as far as the proxy has one for its id.
    const proxy =
      proxyId === undefined ? undefined : await choices.proxy(projectId, { proxy: { id: proxyId } }, row.id);
    runner.requireRoom();
    const state = await this.#stateOf(stored);
    try {
      const started = await forks.startOne(
        {
          captured,
          parent,
          state,
          upstream: proxy?.upstream,
          noteTyped: (id) => {
            if (typed !== undefined) signInBrowsers.noteTyped(id, typed);
            return typed;
          },
        },
        { name: request.name ?? null, timeout_seconds: request.timeout_seconds },
        { apiKeyId: wishes.apiKeyId ?? null, usesSecrets: wishes.usesSecrets === true, signal },
      );
      return runner.view(started.row);
    } catch (error) {
      throw "copy" in state && isFailedRestore(error)
        ? ServiceError.of(snapshotIncompatible(stored.row.id, notRestored), { cause: error })
        : error;
    } finally {
      await state.drop();
    }
  }

  #changesOf(
    request: Request,
    { max_duration_seconds: seconds, options, tags }: SessionRow,
    { engine, id }: StoredSnapshot["row"],
  ) {
    const { placement, region, serverId } = this.#parts;
    const { forkable, sleep_after_seconds: sleep, ...others } = options;
    const canFork = engine === "exact" || placement.unforkableBecause === undefined;
    return {
      // The invocation of the original may have ended.
      invocation_id: null,
      ...{ placement: placement.kind, region, server_id: serverId, tags: request.tags ?? tags },
      ...endOf(request.max_duration_seconds ?? seconds ?? undefined),
      options: {
        ...others,
        ...(forkable && canFork && { forkable }),
        // Possibly the default of another server.
        ...(sleep !== undefined && placement.sleep.unableBecause === undefined && { sleep_after_seconds: sleep }),
        snapshot: id,
      },
    };
  }

  /** @throws {ServiceError} 409 for settings that this server does not support. */
  #refuseUnable({ headless, options, stealth, viewport }: SessionRow, id: string): void {
    const { chrome_policy, extensions, isolation, location, memory, private_hosts } = options;
    const hosts = options.allowlist?.hosts;
    try {
      this.#parts.choices.refuseUnable({
        ...{ headless, stealth, chrome_policy, isolation, location, memory },
        viewport: viewport ?? undefined,
        extensions: extensions?.map((one) => ({ id: one })),
        network: { private_hosts: private_hosts && [...private_hosts], allowed_hosts: hosts && [...hosts] },
      });
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      const reason = `A setting of its session is not available on this server: ${error.message}`;
      throw ServiceError.of(snapshotIncompatible(id, reason), { cause: error });
    }
  }

  async #stateOf(stored: StoredSnapshot): Promise<ForkSource["state"]> {
    const { row } = stored;
    const open = () => stored.open();
    if (row.engine !== "exact") return { open, drop: () => Promise.resolve() };
    const { placement } = this.#parts;
    const { compatibility, id, project_id: project, unpacked_bytes: bytes } = row;
    const reason = placement.unforkableBecause ?? incompatibleBecause(compatibility ?? {}, await placement.copyNeeds());
    if (reason !== undefined) throw ServiceError.of(snapshotIncompatible(id, reason));
    const unpacked = async () => ({ archive: await open(), bytes });
    let used: UsedCopy | undefined;
    return {
      pausedMs: 0,
      copy: async (signal) => {
        used = await this.#copies.get(id, unpacked, { project, signal });
        return used.copy;
      },
      drop: async () => {
        await used?.release();
      },
    };
  }
}

const notRestored =
  "Its processes could not be restored, for example because the system was upgraded after the snapshot was taken.";

function isFailedRestore(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return PlacementError.isInstance(cause) && cause.code === "restore_failed";
}

/** Its address is in the memory of this server alone. */
function refuseOwnProxy({ id, proxy }: SessionRow): void {
  if (proxy !== null && proxy.id === undefined && proxy.mode !== "direct" && proxy.mode !== "default")
    throw ServiceError.of(notForkable(id, "its proxy is not one of the project"));
}
