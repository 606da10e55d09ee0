import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../database-errors.ts";
import type { Log } from "../log.ts";
import type { ReplayStore } from "../replays/replay-store.ts";
import { selectCategories } from "../telemetry/categories.ts";
import { explainDestination } from "../telemetry-export/choice.ts";
import { changeProxy } from "./change-proxy.ts";
import { applyPolicies } from "./chrome-policy.ts";
import { answeringInstance } from "./answering-instance.ts";
import type { RunningSession, SessionView } from "./running-session.ts";
import { nameTaken, notFound, refuseImpossible } from "./session-errors.ts";
import type { SessionOptions } from "./session-options.ts";
import { defaultViewport, type SessionRunner } from "./session-runner.ts";
import type { SessionChanges, SessionRow, SessionStore } from "./session-store.ts";
import { changeViewport, effectiveViewport } from "./viewport.ts";

type Request = z.output<typeof UpdateBrowser>;

/** Changes of running sessions. */
export interface SessionUpdates {
  /** All of a request, or nothing. One follows the other. */
  update(projectId: string, idOrName: string, request: Request): Promise<SessionView>;
  /** Resolves when no change of a session is under way. */
  settled(id: string): Promise<void>;
}

export interface SessionUpdatesParts {
  readonly runner: SessionRunner;
  readonly store: Pick<SessionStore, "update">;
  readonly replays: Pick<ReplayStore, "keep" | "noteStop">;
  /** @throws {ServiceError} 404 where none runs. */
  readonly existing: (projectId: string, idOrName: string) => Promise<SessionRow>;
  /** Says that another server has it. */
  readonly refuse: (row: SessionRow) => never;
  readonly log: Log;
}

/** The session's options with the policies that are to hold; `undefined` = they stay as they are. */
function optionsWith(policies: Request["chrome_policy"], { chrome_policy: present, ...others }: SessionOptions): SessionOptions | undefined {
  if (policies === undefined) return undefined;
  if (Object.keys(policies).length > 0) return { ...others, chrome_policy: policies };
  return present === undefined ? undefined : others;
}

/** Of the row, what a change changes, as it was. */
function before(row: SessionRow, changes: SessionChanges): SessionChanges {
  return Object.fromEntries(Object.keys(changes).map((column) => [column, row[column as keyof SessionChanges]]));
}

export function createSessionUpdates({ existing, log, refuse, replays, runner, store }: SessionUpdatesParts): SessionUpdates {
  const { chooseProxy, instanceHere, sessions, view } = runner;
  const latest = new Map<string, Promise<unknown>>();

  /** Finds out everything that can be refused without having done anything. */
  async function plan(present: SessionRow, request: Request) {
    const { id, project_id } = present;
    const [profile, chosen] = await Promise.all([
      request.profile && runner.chooseProfile(project_id, request.profile),
      chooseProxy(project_id, request, id),
    ]);
    if (profile && present.profile_id !== null)
      throw new ServiceError(
        409,
        "conflict",
        `Browser ${id} has profile ${present.profile_id} already; only a session without one can load another.`,
      );
    const options = optionsWith(request.chrome_policy, present.options);
    let running: { readonly session: RunningSession; readonly instance: Instance } | undefined;
    if (chosen !== undefined || options !== undefined || profile || request.telemetry || request.viewport) {
      const session = sessions.get(id);
      if (session === undefined) return refuse(present);
      running = { session, instance: answeringInstance(instanceHere(session), session) };
    }
    if (request.telemetry) selectCategories(request.telemetry, running?.session.captured);
    const destination = await runner.destinationFor(project_id, request.telemetry, present.telemetry_destination_id);
    const name = request.name === "" ? null : request.name;
    const viewport = request.viewport && effectiveViewport(request.viewport, present.headless);
    const changes: SessionChanges = {
      ...(name !== undefined && { name }),
      ...(request.tags && { tags: request.tags }),
      ...(chosen !== undefined && { proxy: chosen?.shown ?? null }),
      ...(options && { options }),
      ...(viewport && { viewport }),
      ...(destination !== present.telemetry_destination_id && { telemetry_destination_id: destination }),
      ...(profile && { ...profile, profile_version: null }),
    };
    return { changes, chosen, name, options, profile, running, viewport };
  }

  /** Writes the row: a name or a profile that is taken is found out here. */
  async function write(present: SessionRow, changes: SessionChanges): Promise<SessionRow> {
    try {
      const row = await store.update(present.id, changes);
      if (row !== undefined) return row;
    } catch (error) {
      const explained = await runner.explainProfile(changes.profile_id ?? null, explainDestination(error));
      if (explained !== error) throw explained;
      throw typeof changes.name === "string" && isUniqueViolation(error) ? nameTaken(changes.name) : error;
    }
    throw notFound(present.id);
  }

  async function resize(
    { id, project_id: projectId }: SessionRow,
    instance: Instance,
    viewport: Parameters<typeof changeViewport>[1],
    force: boolean | undefined,
  ): Promise<void> {
    const begun = await changeViewport(instance, viewport, force);
    // The others had to end for them.
    if (begun.length > 0) replays.noteStop(id);
    for (const replay of begun)
      await replays.keep({ id, projectId }, instance, replay).catch((error: unknown) => {
        log.warn({ session_id: id, replay_id: replay.replay_id, err: error }, "a recording does not go on after a change of the viewport");
      });
  }

  async function change(present: SessionRow, request: Request): Promise<SessionView> {
    const { id } = present;
    const { changes, chosen, options, profile, running, viewport } = await plan(present, request);
    if (Object.keys(changes).length === 0 && running === undefined) return view(present);
    let row = Object.keys(changes).length === 0 ? present : await write(present, changes);
    /** How to take back what has taken effect, the latest last. */
    const undo: (() => Promise<unknown>)[] = [];
    if (running !== undefined) {
      const { instance, session } = running;
      try {
        if (viewport) {
          await resize(present, instance, viewport, request.viewport?.force);
          undo.push(() => resize(present, instance, present.viewport ?? defaultViewport, true));
        }
        if (request.telemetry) undo.push(await runner.switchTelemetry(present, request.telemetry));
        if (options) {
          // First: the policies of one whose browser did not take them would hold at its next start.
          undo.push(() => applyPolicies(instance, present.options.chrome_policy ?? {}));
          await applyPolicies(instance, options.chrome_policy ?? {});
        }
        if (chosen !== undefined) {
          const { upstream } = instance;
          const of = { id, timeoutSeconds: present.timeout_seconds };
          await changeProxy(instance, of, chosen?.upstream);
          undo.push(() => changeProxy(instance, of, upstream));
        }
        // Last: what a browser has loaded cannot be taken out of it.
        if (profile) {
          const adopted = await runner.adoptProfile(session, profile);
          if (adopted === undefined) throw notFound(id);
          row = adopted;
        }
      } catch (error) {
        for (const step of [...undo.reverse(), () => store.update(id, before(present, changes))]) {
          await step().catch((failure: unknown) => {
            log.warn({ session_id: id, err: failure }, "a change of a session that failed could not be taken back");
          });
        }
        throw error;
      }
    }
    runner.rename(row);
    return view(row);
  }

  return {
    async update(projectId, idOrName, request) {
      runner.refuseUnable({ chrome_policy: request.chrome_policy });
      refuseImpossible({ viewport: request.viewport });
      const found = await existing(projectId, idOrName);
      const { id } = found;
      const earlier = latest.get(id);
      const changed = earlier === undefined ? change(found, request) : earlier.then(async () => change(await existing(projectId, id), request));
      const settled = changed
        .catch(() => undefined)
        .then(() => {
          if (latest.get(id) === settled) latest.delete(id);
        });
      latest.set(id, settled);
      return changed;
    },
    async settled(id) {
      await latest.get(id);
    },
  };
}
