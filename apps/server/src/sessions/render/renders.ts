import type { CheckedRequestOf, renderPage as endpoint } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { AnswerProblem, InstanceRefusal, type RenderedParts, type RenderMore, renderPage } from "@shoal/placement";
import { anySignal, renderProblem } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { BrowserOrigin } from "@shoal/schemas";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import type { Access } from "../../http/auth/access.ts";
import type { Log } from "../../log/log.ts";
import { enderOf } from "../browsers/lifecycle.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { WaitingLine } from "../waiting/waiting-line.ts";
import { noAnswer } from "../instance-plane/no-answer.ts";

export type RenderRequest = CheckedRequestOf<typeof endpoint>["body"];

/** A rendered page and the session that rendered it, which has ended. */
export interface Rendered extends RenderedParts {
  readonly sessionId: string;
}

export interface RenderCall {
  readonly context: Access;
  readonly body: RenderRequest;
  /** Of another service. */
  readonly more?: RenderMore | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface RendersParts {
  readonly sessions: Pick<Sessions, "create" | "delete" | "instanceHere">;
  readonly line: WaitingLine;
  readonly log: Log;
}

/** The session outlives a call by this time at most, should the server not end it. Seconds. */
const graceSeconds = 10;
/** An instance answers within the time of the request, or is stuck. Milliseconds. */
const answerGraceMs = 5_000;
const leastMs = 1_000;

/** Renders pages in sessions that end with the call. */
export class Renders {
  readonly #parts: RendersParts;

  constructor(parts: RendersParts) {
    this.#parts = parts;
  }

  /** @throws {ServiceError} as creating a session, and as `browsers.render`. */
  async render({ body, context, more, signal }: RenderCall, origin: BrowserOrigin): Promise<Rendered> {
    const { line } = this.#parts;
    // Before a session starts.
    const refusal = body.url === undefined ? undefined : renderProblem(body.url);
    if (refusal !== undefined) throw ServiceError.of(invalid("body.url", refusal.problem, { hint: refusal.hint }));
    const untilMs = performance.now() + body.timeout_ms;
    const sessionId = await line.take(context.projectId, { signal, untilMs }, () =>
      this.#create({ body, context, signal }, origin),
    );
    try {
      const timeoutMs = Math.round(Math.max(leastMs, untilMs - performance.now()));
      return { sessionId, ...(await this.#renderIn(sessionId, { context, signal, body, more, timeoutMs })) };
    } finally {
      await this.#end(sessionId, context);
    }
  }

  async #create({ body, context, signal }: RenderCall, origin: BrowserOrigin): Promise<string> {
    const { profile, proxy, stealth, timeout_ms: timeoutMs } = body;
    const seconds = Math.ceil(timeoutMs / 1000) + graceSeconds;
    const view = await this.#parts.sessions.create(
      context.projectId,
      {
        timeout_seconds: graceSeconds,
        max_duration_seconds: seconds,
        ...(proxy && { proxy }),
        ...(stealth !== undefined && { stealth }),
        ...(profile && { profile: { ...profile, save_changes: false } }),
      },
      signal,
      { apiKeyId: context.key.id, origin },
    );
    if (view instanceof RegionElsewhere) throw view.toError();
    return view.row.id;
  }

  async #renderIn(
    sessionId: string,
    { body, context, more, signal, timeoutMs }: RenderCall & { readonly timeoutMs: number },
  ): Promise<RenderedParts> {
    const { profile: _profile, proxy: _proxy, stealth: _stealth, ...request } = body;
    const stuck = AbortSignal.timeout(timeoutMs + answerGraceMs);
    try {
      const instance = await this.#parts.sessions.instanceHere(context.projectId, sessionId);
      const page = { ...request, timeout_ms: timeoutMs };
      return await renderPage(instance, { page, ...(more && { more }) }, anySignal([signal, stuck]));
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, sessionId);
    }
  }

  async #end(sessionId: string, context: Access): Promise<void> {
    try {
      await this.#parts.sessions.delete(context.projectId, sessionId, enderOf(context));
    } catch (error) {
      // It has ended already.
      if (!ServiceError.isInstance(error) || error.status !== 404)
        this.#parts.log.warn(
          { session_id: sessionId, err: error },
          "the session of a rendered page could not be ended",
        );
    }
  }
}

function explain(error: unknown, sessionId: string): ServiceError {
  if (error instanceof InstanceRefusal) {
    const { code, field, hint, limit, problem, status } = error;
    const isKnown = status >= 400 && status < 600 && status !== 401 && status !== 403;
    return isKnown
      ? new ServiceError(status, code, problem, { field, limit, hint, ...(status === 503 && { retryAfterSeconds: 1 }) })
      : new ServiceError(502, "bad_gateway", "The instance of the page answered an unknown error.");
  }
  if (error instanceof AnswerProblem) return new ServiceError(502, "bad_gateway", error.message, { cause: error });
  const answer = noAnswer(error, sessionId);
  if (answer.status !== 404) return answer;
  return new ServiceError(503, "browser_not_running", `The session of the page ended: ${answer.problem}`, {
    hint: "Repeat the request.",
    retryAfterSeconds: 1,
    cause: error,
  });
}
