import { contract } from "@shoal/contract";
import { connectionOperation } from "@shoal/contract/rights";
import { instanceControl, type OfferedSecret, type ReplayedStep } from "@shoal/instance";
import { callInstance, type Instance, InstanceRefusal } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Flow, FlowDivergence, FlowStep, FlowStepResult, StoredSecret } from "@shoal/schemas";
import { laterNoteOf } from "../../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../../audit/logs/recorder.ts";
import type { Access, PresentAccess } from "../../../http/auth/access.ts";
import { mayUseSecrets, refuseWithoutRights } from "../../../http/auth/rights.ts";
import type { Log } from "../../../log/log.ts";
import { explainOutage } from "../../../storage/errors/outages.ts";
import { throughOutages } from "../../../storage/errors/through-outages.ts";
import type { Sessions } from "../../browsers/sessions.ts";
import type { Handoffs } from "../../handoff/handoffs.ts";
import type { HandoffGate } from "../../handoff/handoff-gate.ts";
import { noAnswer } from "../../instance-plane/no-answer.ts";
import type { SignInBrowsers } from "../../live-view/sign-in-browsers.ts";
import type { RowSession } from "./row-session.ts";
import type { RunningRows } from "./running-rows.ts";
import { needsSecrets } from "./run-refusals.ts";
import type { RowChange, RowStatus } from "./run-store.ts";
import { type OtherNames, prepareStep, type PreparedStep } from "./run-step.ts";
import type { RowValues } from "./run-values.ts";

/** Opens a stored value for one step. */
export type OpenSecret = (
  projectId: string,
  secret: StoredSecret,
  signal: AbortSignal,
) => Promise<Omit<OfferedSecret, "ticket">>;

export interface RowRunParts {
  readonly sessions: Pick<Sessions, "instanceHere">;
  readonly handoffs: Pick<Handoffs, "endById" | "request" | "store">;
  readonly gate: Pick<HandoffGate, "ended">;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteStored">;
  readonly openSecret: OpenSecret;
  readonly presentAccess: PresentAccess;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly log: Log;
}

export interface RowOptions {
  readonly flow: Flow;
  readonly access: Access;
  readonly values: RowValues;
  readonly names: OtherNames;
  readonly session: RowSession;
  readonly personSeconds: number;
  /** The row has a place, which others may use while it waits for a person. */
  readonly running: Pick<RunningRows, "goOn" | "leave">;
  readonly signal: AbortSignal;
  /** Stores a change. False ends the row: the run was canceled. */
  readonly change: (change: RowChange) => Promise<boolean>;
  /** @returns whether the run keeps the picture. */
  readonly keepPicture: (step: number, jpeg: Buffer) => Promise<boolean>;
  readonly onDivergence: (divergence: FlowDivergence, step: number, sessionId: string) => Promise<void>;
}

/** An instance answers within the times of the step, or is stuck. Milliseconds. */
const answerGraceMs = 60_000;
const startStep = -1;
const startMs = 30_000;

const handoffActive = "handoff_active";

/** The answer for a step that a person prevented, or stopped: it may have acted. */
function takenOver({ act, target: { name, role } = { fallbacks: [] } }: PreparedStep["step"]): ReplayedStep {
  const expected = [act?.type ?? "expect", role, name && JSON.stringify(name)].filter((part) => part !== undefined);
  return {
    found_by: null,
    divergence: {
      ...{ code: handoffActive, expected: expected.join(" "), seen: "A person controls the session.", candidates: [] },
      ...{ url: "", title: "" },
    },
  };
}

/** The run no longer runs. */
class RunEnded extends Error {
  override readonly name = "RunEnded";
}

/** One pass through a flow. No step acts twice. */
export class RowRun {
  readonly #parts: RowRunParts;
  readonly #options: RowOptions;
  readonly #steps: FlowStepResult[] = [];

  constructor(parts: RowRunParts, options: RowOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Never rejects. */
  async run(): Promise<RowStatus> {
    const { signal } = this.#options;
    try {
      const status = await this.#runInSession();
      return (await this.#change({ status, steps: this.#steps })) ? status : "canceled";
    } catch (error) {
      if (error instanceof RunEnded || signal.aborted) return "canceled";
      const cause = explainOutage(error);
      const known = ServiceError.isInstance(cause) && cause.code !== "internal_error" ? cause : undefined;
      if (known === undefined || known.status >= 500)
        this.#parts.log.warn({ err: error }, "a row of a flow's run failed");
      const problem = known?.message ?? "The session of the row ended, or did not answer.";
      // A server that stops begins no row.
      const status = known?.code === "shutting_down" && this.#steps.length === 0 ? "canceled" : "failed";
      await this.#change({ status, error: problem.slice(0, 1000), steps: this.#steps }).catch(() => false);
      return status;
    }
  }

  async #runInSession(): Promise<RowStatus> {
    const { access, session, signal } = this.#options;
    refuseWithoutRights(await this.#parts.presentAccess(access), contract.startFlowRun);
    const sessionId = await session.open(signal);
    try {
      await this.#store({ status: "running", session_id: sessionId });
      return await this.#replay(sessionId);
    } finally {
      if (session.endsWithRow) await this.#untilReleased(sessionId);
      await session.end(sessionId);
    }
  }

  async #replay(sessionId: string): Promise<RowStatus> {
    const { flow, names, values } = this.#options;
    const start: FlowStep = {
      ...{ action: "navigate", url: flow.start_url, expect: [], timeout_ms: startMs, on_divergence: "stop" },
    };
    let status: RowStatus = "succeeded";
    for (const [index, step] of [start, ...flow.steps].entries()) {
      const result = await this.#step(sessionId, index + startStep, prepareStep(step, values, names));
      if (result.status !== "diverged" || result.divergence === undefined) continue;
      const { divergence } = result;
      await this.#throughOutages(() => this.#options.onDivergence(divergence, result.step, sessionId));
      const waits = step.on_divergence === "wait";
      // A person in the session keeps it, also with `stop` and `continue`.
      if ((await this.#isReleased(sessionId, result.divergence, waits)) && waits) {
        result.status = "by_person";
        continue;
      }
      status = "diverged";
      if (step.on_divergence !== "continue") break;
    }
    return status;
  }

  /** The step is stored as started before it acts. */
  async #step(sessionId: string, step: number, prepared: PreparedStep): Promise<FlowStepResult> {
    const result: FlowStepResult = { step, status: "started", found_by: null, duration_ms: 0 };
    this.#steps.push(result);
    await this.#store({ steps: this.#steps });
    const beganMs = performance.now();
    const { divergence, found_by: foundBy, picture } = await this.#call(sessionId, prepared);
    const durationMs = Math.round(performance.now() - beganMs);
    const isKept = picture !== undefined && (await this.#keepsPicture(step, picture));
    Object.assign(result, {
      status: divergence === undefined ? "done" : "diverged",
      found_by: foundBy,
      duration_ms: durationMs,
      ...(divergence && { divergence: { ...divergence, has_picture: isKept } }),
    });
    return result;
  }

  /** The run goes on without a picture that cannot be stored. */
  #keepsPicture(step: number, picture: string): Promise<boolean> {
    return this.#options.keepPicture(step, Buffer.from(picture, "base64")).catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, "the picture of a flow's run could not be stored");
      return false;
    });
  }

  async #call(sessionId: string, { secret, step }: PreparedStep): Promise<ReplayedStep> {
    const { signal } = this.#options;
    const prepared = await this.#throughOutages(() => this.#prepare(sessionId, secret));
    if (prepared === undefined) return takenOver(step);
    const { instance, offered } = prepared;
    if (secret !== undefined) await this.#throughOutages(() => this.#parts.signInBrowsers.noteStored(sessionId));
    const stuckMs = step.timeout_ms * (2 + step.expect.length) + answerGraceMs;
    try {
      return await callInstance(instance, instanceControl.replayStep, {
        body: { ...step, ...(offered && { offered }) },
        signal: anySignal([signal, AbortSignal.timeout(stuckMs)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof InstanceRefusal && error.code === handoffActive) return takenOver(step);
      if (error instanceof InstanceRefusal && error.status === 400)
        throw new ServiceError(400, error.code, error.problem);
      throw noAnswer(error, sessionId);
    }
  }

  /** @returns `undefined` if a person controls the session. */
  async #prepare(
    sessionId: string,
    secret: StoredSecret | undefined,
  ): Promise<{ readonly instance: Instance; readonly offered: OfferedSecret | undefined } | undefined> {
    const { access, session } = this.#options;
    const { handoffs, sessions } = this.#parts;
    await session.admit();
    if ((await handoffs.store.active(sessionId)) !== undefined) return undefined;
    const instance: Instance = await sessions.instanceHere(access.projectId, sessionId);
    return { instance, offered: secret && (await this.#offer(sessionId, secret)) };
  }

  /** Opens a stored value. @throws {ServiceError} 401, 403 or 404 if the caller has lost the right to it since the start. */
  async #offer(sessionId: string, secret: StoredSecret): Promise<OfferedSecret> {
    const { access, signal } = this.#options;
    const { openSecret, presentAccess, recorder } = this.#parts;
    if (!mayUseSecrets(await presentAccess(access), sessionId)) throw ServiceError.of(needsSecrets);
    const opened = await openSecret(access.projectId, secret, signal);
    const { operationId } = connectionOperation("credentials.use");
    recorder.note(laterNoteOf(access, { ...contract.actOnPage, operationId }, sessionId));
    return { ...opened, ticket: "flow-step-by-service" };
  }

  /** Waits for the person in the session, or asks one to do the step. @returns whether the person released it. */
  async #isReleased(sessionId: string, divergence: FlowDivergence, asks: boolean): Promise<boolean> {
    const { signal } = this.#options;
    const { gate, handoffs } = this.#parts;
    const active = await this.#throughOutages(() => handoffs.store.active(sessionId));
    if (active === undefined && !asks) return false;
    await this.#store({ status: "waiting", steps: this.#steps });
    const { id, isAsked } =
      active === undefined
        ? await this.#throughOutages(() => this.#ask(sessionId, divergence))
        : { id: active.id, isAsked: false };
    try {
      await this.#outOfPlace(() => gate.ended(id, signal));
    } finally {
      if (isAsked) await this.#withdraw(id);
    }
    signal.throwIfAborted();
    const isReleased = (await this.#throughOutages(() => handoffs.store.find(id)))?.status === "released";
    await this.#store({ status: "running" });
    return isReleased;
  }

  /** Waits until no person has the session, or the run is canceled. Never rejects. */
  async #untilReleased(sessionId: string): Promise<void> {
    const { signal } = this.#options;
    const { gate, handoffs, log } = this.#parts;
    try {
      for (;;) {
        const active = await this.#throughOutages(() => handoffs.store.active(sessionId));
        if (active === undefined) return;
        await this.#store({ status: "waiting", steps: this.#steps });
        await this.#outOfPlace(() => gate.ended(active.id, signal));
      }
    } catch (error) {
      if (!(error instanceof RunEnded) && !signal.aborted)
        log.warn({ session_id: sessionId, err: error }, "the session of a flow's run could not wait for its release");
    }
  }

  /** Other rows run while this one waits. */
  async #outOfPlace(wait: () => Promise<unknown>): Promise<void> {
    const { running } = this.#options;
    running.leave();
    try {
      await this.#throughOutages(wait);
    } finally {
      running.goOn();
    }
  }

  /** Ends a handoff of this row that has not ended: the session of a caller would stay with a person for a row that is over. */
  async #withdraw(id: string): Promise<void> {
    const { handoffs, log } = this.#parts;
    if (this.#options.session.endsWithRow) return;
    await handoffs.endById(id, { status: "canceled", released_by: null, note: null }).catch((error: unknown) => {
      log.warn({ handoff_id: id, err: error }, "the handoff of a flow's run could not be ended");
    });
  }

  /** Asks a person to do the step, unless one has taken over meanwhile. */
  async #ask(
    sessionId: string,
    { expected, seen }: FlowDivergence,
  ): Promise<{ readonly id: string; readonly isAsked: boolean }> {
    const { access, flow, personSeconds } = this.#options;
    const { handoffs } = this.#parts;
    const message = `The flow ${flow.name} differs from the page. Please do this step: ${expected}. Seen: ${seen}`;
    try {
      const { id } = await handoffs.request(access.projectId, sessionId, {
        body: { message: message.slice(0, 2000), timeout_seconds: personSeconds, on_automation: "refuse" },
        keyId: access.key.id,
      });
      return { id, isAsked: true };
    } catch (error) {
      const begun = await handoffs.store.active(sessionId);
      if (begun === undefined) throw error;
      return { id: begun.id, isAsked: false };
    }
  }

  /** @throws {RunEnded} */
  async #store(change: RowChange): Promise<void> {
    this.#options.signal.throwIfAborted();
    if (!(await this.#change(change))) throw new RunEnded();
  }

  #change(change: RowChange): Promise<boolean> {
    return this.#throughOutages(() => this.#options.change(change));
  }

  #throughOutages<Result>(work: () => Promise<Result>): Promise<Result> {
    return throughOutages(work, this.#options.signal);
  }
}
