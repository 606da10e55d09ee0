import type { Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { Flow, FlowDivergence, StartFlowRun } from "@shoal/schemas";
import pLimit from "p-limit";
import type * as z from "zod/mini";
import type { Access } from "../../../http/auth/access.ts";
import { mayUseSecrets } from "../../../http/auth/rights.ts";
import { emitEvent } from "../../../storage/events/emit-event.ts";
import { throughOutages } from "../../../storage/errors/through-outages.ts";
import { untilRow } from "../../../storage/until-row.ts";
import type { Sessions } from "../../browsers/sessions.ts";
import type { SessionRow } from "../../browsers/session-store.ts";
import type { HandoffGate } from "../../handoff/handoff-gate.ts";
import { RunningRows } from "./running-rows.ts";
import { RowRun, type RowRunParts } from "./row-run.ts";
import { callersRowSession, newRowSession, requestOf, type RowSessionParts } from "./row-session.ts";
import { needsSecrets, sessionInRun, tooManyRows, within } from "./run-refusals.ts";
import type { FlowRunStore, RowStatus, RunStatus, ScheduledRun } from "./run-store.ts";
import { type RowValues, rowValuesOf } from "./run-values.ts";

export interface FlowRunnerParts extends Omit<RowRunParts, "sessions" | "signInBrowsers">, RowSessionParts {
  readonly sessions: RowRunParts["sessions"] &
    RowSessionParts["sessions"] & { readonly pooled: Pick<Sessions["pooled"], "checkLater"> };
  readonly signInBrowsers: RowRunParts["signInBrowsers"] & RowSessionParts["signInBrowsers"];
  readonly gate: Pick<HandoffGate, "ended" | "requireNone">;
  readonly database: Pick<Database, "onChange" | "query">;
  readonly store: FlowRunStore;
  /** The server stops or drains. */
  readonly isDraining: () => boolean;
}

type Request = z.output<typeof StartFlowRun>;

export interface NewFlowRun {
  readonly flow: Flow;
  readonly request: Request;
  /** The caller's session of `request.session`, on this server. */
  readonly session: SessionRow | undefined;
  readonly scheduled?: ScheduledRun | undefined;
  readonly signal: AbortSignal;
}

interface Started {
  readonly id: string;
  readonly flow: Flow;
  readonly access: Access;
  readonly request: Request;
  readonly rows: readonly RowValues[];
  /** Id of the caller's session. */
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal;
}

interface NumberedRow {
  readonly values: RowValues;
  readonly index: number;
}

/** Of one project on this server, without rows that wait for a person. */
const maxRunningRows = 10;
const maxRows = 300;

interface ProjectRows {
  readonly running: RunningRows;
  /** Running and waiting rows of all its runs. */
  count: number;
}

/** Runs flows in the process of the server that received the request. */
export class FlowRunner {
  readonly #parts: FlowRunnerParts;
  readonly #projects = new Map<string, ProjectRows>();
  readonly #running = new Map<string, { readonly cancel: AbortController; readonly done: Promise<void> }>();
  /** Sessions of callers in which a run acts. */
  readonly #sessions = new Set<string>();

  constructor(parts: FlowRunnerParts) {
    this.#parts = parts;
  }

  /** @throws {ServiceError} 400 for values, 403 for stored values without the right to them, 409 for a session under a person. */
  async check(access: Access, { flow, request, session, signal }: NewFlowRun): Promise<readonly RowValues[]> {
    const rows = rowValuesOf(flow.parameters, request);
    const usesSecrets =
      flow.steps.some(({ secret }) => secret !== undefined) || flow.parameters.some((one) => one.secret);
    if (usesSecrets && !mayUseSecrets(access, session?.id)) throw ServiceError.of(needsSecrets);
    if (session === undefined) await this.#checkBrowser(access, request, signal);
    else await this.#parts.gate.requireNone(session.id);
    return rows;
  }

  /** @throws {ServiceError} as {@link FlowRunner.check}, and 409 over the limit or for a busy session. */
  async start(access: Access, run: NewFlowRun): Promise<string> {
    const { isDraining, store } = this.#parts;
    const { flow, request, scheduled, session } = run;
    if (isDraining()) throw stopping();
    const rows = await this.check(access, run);
    // The check may take long, and `close` waits for entered runs alone.
    if (isDraining()) throw stopping();
    const { projectId } = access;
    const { leave, running } = this.#enter(projectId, rows.length, session?.id);
    try {
      const rowCount = rows.length;
      const id = await store.insert({ projectId, flowId: flow.id, version: flow.version, rowCount, scheduled });
      const cancel = new AbortController();
      const started = { id, flow, access, request, rows, sessionId: session?.id, signal: cancel.signal };
      const done = this.#run(started, running).finally(() => {
        this.#running.delete(id);
        leave();
      });
      this.#running.set(id, { cancel, done });
      return id;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Before rows begin. @throws {ServiceError} as creating a session. */
  async #checkBrowser(access: Access, { browser }: Request, signal: AbortSignal): Promise<void> {
    if (browser === undefined) return;
    const by = { signal, usesSecrets: mayUseSecrets(access) };
    await this.#parts.sessions.pooled.checkLater(access.projectId, requestOf(browser), by).catch((error: unknown) => {
      throw within(error, "browser");
    });
  }

  /** Counts the rows of a run until `leave`. @throws {ServiceError} 409 over the limit, or for a session with a run. */
  #enter(
    projectId: string,
    count: number,
    sessionId: string | undefined,
  ): { readonly running: RunningRows; readonly leave: () => void } {
    if (sessionId !== undefined && this.#sessions.has(sessionId)) throw ServiceError.of(sessionInRun(sessionId));
    const rows = this.#projects.get(projectId) ?? { running: new RunningRows(maxRunningRows), count: 0 };
    if (rows.count + count > maxRows) throw ServiceError.of(tooManyRows(maxRows));
    rows.count += count;
    this.#projects.set(projectId, rows);
    if (sessionId !== undefined) this.#sessions.add(sessionId);
    const leave = (): void => {
      if (sessionId !== undefined) this.#sessions.delete(sessionId);
      rows.count -= count;
      if (rows.count === 0) this.#projects.delete(projectId);
    };
    return { running: rows.running, leave };
  }

  /** Ends a run; on another server, its next change does. */
  async cancel(id: string): Promise<void> {
    await this.#parts.store.finish(id, "canceled");
    const running = this.#running.get(id);
    running?.cancel.abort();
    await running?.done;
  }

  /** A row changed, perhaps on another server. */
  async changed(id: string | undefined): Promise<void> {
    for (const [runId, { cancel }] of this.#running)
      if ((id === undefined || runId === id) && !(await this.#parts.store.isRunning(runId))) cancel.abort();
  }

  /** Waits for the end of a run of any server, or until the signal aborts. */
  ended(id: string, signal: AbortSignal): Promise<void> {
    const { database, store } = this.#parts;
    return untilRow(database, { table: "flow_runs", id }, async () => !(await store.isRunning(id)), signal);
  }

  /** Ends every run as unknown: a step may have acted. */
  async close(): Promise<void> {
    const running = [...this.#running];
    await Promise.all(
      running.map(async ([id, { cancel, done }]) => {
        // Otherwise the next process of this server ends it.
        await this.#parts.store.finish(id, "unknown").catch((error: unknown) => {
          this.#parts.log.warn({ run_id: id, err: error }, "the end of a flow's run could not be stored");
        });
        cancel.abort();
        await done;
      }),
    );
  }

  /** Never rejects. */
  async #run(started: Started, running: RunningRows): Promise<void> {
    const { id, request, rows, signal } = started;
    const own = pLimit(request.concurrency);
    const statuses = await Promise.all(
      rows.map((values, index) => own(() => this.#inPlace(running, started, { values, index }))),
    );
    try {
      await throughOutages(() => this.#parts.store.finish(id, statusOf(statuses)), signal);
    } catch (error) {
      this.#parts.log.warn({ run_id: id, err: error }, "the end of a flow's run could not be stored");
    }
  }

  async #inPlace(running: RunningRows, started: Started, row: NumberedRow): Promise<RowStatus> {
    try {
      await running.enter(started.signal);
    } catch {
      return "canceled";
    }
    try {
      return await this.#row(running, started, row);
    } finally {
      running.leave();
    }
  }

  async #row(running: RunningRows, started: Started, { index, values }: NumberedRow): Promise<RowStatus> {
    const { access, flow, id, request, sessionId, signal } = started;
    const { database, store } = this.#parts;
    const session =
      sessionId === undefined
        ? newRowSession(this.#parts, access, request.browser)
        : callersRowSession(this.#parts, access, sessionId);
    const row = new RowRun(this.#parts, {
      ...{ access, flow, session, signal, values, names: request.names ?? {} },
      running,
      personSeconds: request.person_timeout_seconds,
      change: (change) => store.change(id, index, change),
      keepPicture: (step, jpeg) => store.pictures.keep(id, { row: index, step, jpeg }),
      onDivergence: async (divergence: FlowDivergence, step: number, inSession: string) => {
        const { code, expected, seen, url } = divergence;
        await emitEvent(database.query, access.projectId, {
          type: "flow_run.diverged",
          data: {
            ...{ run_id: id, flow_id: flow.id, flow_version: flow.version, row: index, session_id: inSession },
            ...{
              step,
              code,
              expected,
              seen,
              url: withoutQuery(url),
              on_divergence: flow.steps[step]?.on_divergence ?? "stop",
            },
          },
        });
      },
    });
    return row.run();
  }
}

const stopping = (): ServiceError =>
  new ServiceError(503, "shutting_down", "The server is stopping and starts no new runs.", { retryAfterSeconds: 5 });

/** The query of a form has typed values. */
const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0] ?? "";

/** The worst status counts. */
function statusOf(statuses: readonly RowStatus[]): RunStatus {
  const worst = (["canceled", "failed", "diverged"] as const).find((one) => statuses.includes(one));
  return worst ?? "succeeded";
}
