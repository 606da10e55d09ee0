import { notForkable, refuseBesideSnapshot, snapshotIncompatible } from "@shoal/contract/refusals";
import { type InstanceCopy, type Placement, PlacementError } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, CreateSnapshot, Snapshot } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { SignInBrowsers, TypedValue } from "../../live-view/sign-in-browsers.ts";
import type { SnapshotStore, StoredSnapshot } from "../../snapshots/snapshot-store.ts";
import type { CapturedCategories } from "../../telemetry/categories.ts";
import { type EndCause, endOf } from "../lifecycle.ts";
import type { SessionView, SessionWishes } from "../running-session.ts";
import type { SessionRow } from "../session-store.ts";
import { explainStart } from "../start/explain-start.ts";
import { incompatibleBecause } from "./copy-needs.ts";
import type { ForkCaller, ForkSource, SessionForks, SessionForksParts } from "./session-forks.ts";
import { UnpackedCopies } from "./unpacked-copies.ts";

export interface SessionSnapshotsParts extends Pick<SessionForksParts, "choices" | "log" | "runner"> {
  readonly forks: SessionForks;
  readonly snapshots: Pick<SnapshotStore, "add" | "find" | "requireRoom">;
  readonly placement: Pick<Placement, "copyNeeds" | "kind" | "unforkableBecause" | "unpack">;
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
    { mode, name, stop }: z.output<typeof CreateSnapshot>,
    by: ForkCaller & Pick<EndCause, "by">,
  ): Promise<Snapshot> {
    const { forks, runner, signInBrowsers, snapshots } = this.#parts;
    await snapshots.requireRoom(projectId);
    const source = await forks.read(projectId, idOrName, mode, by);
    try {
      const { captured, parent } = source;
      refuseOwnProxy(parent);
      // After the state was read: a value that is typed later is not in it.
      const settings: Settings = { row: parent, captured, typed: signInBrowsers.typedIn(parent.id) };
      const { content, ...facts } = await this.#contentOf(source);
      const about = { sessionId: parent.id, name, settings, notExactBecause: source.notExactBecause };
      const snapshot = await snapshots.add(projectId, { ...about, ...facts }, content, by.signal);
      const session = stop ? runner.sessions.get(parent.id) : undefined;
      if (session !== undefined) await runner.end(session, "deleted", { by: by.by }).recorded;
      return snapshot;
    } finally {
      await source.state.drop();
    }
  }

  async #contentOf({ state }: ForkSource) {
    if (!("copy" in state))
      return {
        content: await state.open(),
        engine: "restored",
        pausedMs: 0,
        unpackedBytes: 0,
        compatibility: undefined,
      } as const;
    const { copy } = state;
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
    const parent = { ...row, ...(await choices.remaining(row)), ...this.#changesOf(request, row, stored.row.id) };
    const { id: proxyId } = parent.proxy ?? {};
    // The same exit as its session had, as far as the proxy has one for its id.
    const proxy =
      proxyId === undefined ? undefined : await choices.proxy(projectId, { proxy: { id: proxyId } }, row.id);
    runner.requireRoom();
    const state = await this.#stateOf(stored, signal);
    try {
      const started = await forks.startOne(
        {
          captured,
          parent,
          state,
          upstream: proxy?.upstream,
          noteTyped: (id) => {
            if (typed !== undefined) signInBrowsers.noteTyped(id, typed);
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

  #changesOf(request: Request, { max_duration_seconds: seconds, options, tags }: SessionRow, snapshot: string) {
    const { placement, region, serverId } = this.#parts;
    return {
      ...{ placement: placement.kind, region, server_id: serverId, tags: request.tags ?? tags },
      ...endOf(request.max_duration_seconds ?? seconds ?? undefined),
      options: { ...options, snapshot },
    };
  }

  async #stateOf(stored: StoredSnapshot, signal: AbortSignal): Promise<ForkSource["state"]> {
    const { row } = stored;
    const open = () => stored.open();
    if (row.engine !== "exact") return { open, drop: () => Promise.resolve() };
    const { log, placement } = this.#parts;
    const { compatibility, id, unpacked_bytes: bytes } = row;
    const reason = placement.unforkableBecause ?? incompatibleBecause(compatibility ?? {}, await placement.copyNeeds());
    if (reason !== undefined) throw ServiceError.of(snapshotIncompatible(id, reason));
    signal.throwIfAborted();
    const shared = await this.#copies
      .get(id, async () => ({ archive: await open(), bytes }))
      .catch((error: unknown) => {
        throw explainStart(error, `of snapshot ${id}`, log);
      });
    const copy: InstanceCopy = shared.copy;
    return { copy, drop: shared.release };
  }
}

const notRestored =
  "Its processes could not be restored, for example because the system was upgraded after the snapshot was taken.";

function isFailedRestore(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return PlacementError.isInstance(cause) && cause.code === "start_failed";
}

/** Its address is in the memory of this server alone. */
function refuseOwnProxy({ id, proxy }: SessionRow): void {
  if (proxy !== null && proxy.id === undefined && proxy.mode !== "direct" && proxy.mode !== "default")
    throw ServiceError.of(notForkable(id, "its proxy is not one of the project"));
}
