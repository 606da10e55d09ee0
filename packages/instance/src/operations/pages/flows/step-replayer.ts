import { ServiceError } from "@shoal/router";
import type { FlowDivergence, FlowExpectation, FlowTarget } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { ReplayedStep, ReplayStep } from "../../../protocol/flow.ts";
import type { Act } from "../act/act-fields.ts";
import type { PageActor } from "../act/page-actor.ts";
import type { SessionPages } from "../tabs/session-pages.ts";
import { described, findStepElement } from "./step-element.ts";

const maxText = 1_000;

interface ReplayerParts {
  readonly actor: PageActor;
  readonly pages: SessionPages;
  /** Base64 of a JPEG of the page in front; `undefined` without one. */
  readonly takePicture: () => Promise<string | undefined>;
}

/** Does steps of flows, each action at most once. */
export class StepReplayer {
  readonly #actor: PageActor;
  readonly #pages: SessionPages;

  readonly #takePicture: () => Promise<string | undefined>;

  constructor({ actor, pages, takePicture }: ReplayerParts) {
    this.#actor = actor;
    this.#pages = pages;
    this.#takePicture = takePicture;
  }

  /** A page that differs is an answer. @throws {ServiceError} for a session that ends, and 400 for fields. */
  async replay(step: z.output<typeof ReplayStep>, signal: AbortSignal): Promise<ReplayedStep> {
    const replayed = await this.#replay(step, signal);
    if (replayed.divergence === undefined) return replayed;
    const picture = await this.#takePicture();
    return picture === undefined ? replayed : { ...replayed, picture };
  }

  async #replay(step: z.output<typeof ReplayStep>, signal: AbortSignal): Promise<ReplayedStep> {
    let foundBy: string | null = null;
    if (step.act !== undefined) {
      const act = await this.#act({ ...step, act: step.act }, signal);
      if ("divergence" in act) return { found_by: null, divergence: act.divergence };
      foundBy = act.foundBy;
    }
    for (const expectation of step.expect) {
      const divergence = await this.#expect(expectation, step.timeout_ms, signal);
      if (divergence !== undefined) return { found_by: foundBy, divergence };
    }
    return { found_by: foundBy };
  }

  async #act(
    {
      act,
      is_guarded: isGuarded,
      offered,
      target,
      timeout_ms: timeoutMs,
    }: z.output<typeof ReplayStep> & { readonly act: Act },
    signal: AbortSignal,
  ): Promise<{ readonly foundBy: string | null } | { readonly divergence: FlowDivergence }> {
    const expected = target === undefined ? act.type : `${act.type} ${describedTarget(target)}`;
    try {
      signal.throwIfAborted();
      if (target === undefined) {
        await this.#actor.act({ ...act, timeout_ms: timeoutMs }, signal, offered);
        return { foundBy: null };
      }
      const tab = await this.#pages.tab();
      const found = await findStepElement({ pages: this.#pages, tab, target, isGuarded, signal, timeoutMs });
      if (found.kind !== "one") {
        const seen = {
          not_found: "No element matches.",
          ambiguous: "Several elements match.",
          unsure: "One element matches in one way only, and a wrong one would do harm.",
        }[found.kind];
        return {
          divergence: await this.#divergence({ code: found.kind, expected, seen, candidates: found.candidates }),
        };
      }
      await this.#actor.act({ ...act, ref: found.ref, timeout_ms: timeoutMs }, signal, offered);
      return { foundBy: found.by };
    } catch (error) {
      return { divergence: await this.#divergenceOf(error, expected) };
    }
  }

  /** @returns what differs. */
  async #expect(
    { element, state, text, url }: FlowExpectation,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<FlowDivergence | undefined> {
    const expected = url ?? (text === undefined ? described(element?.role, element?.name) : JSON.stringify(text));
    const wanted = { ...(url !== undefined && { url }), ...(text !== undefined && { text }), ...element };
    try {
      await this.#actor.act({ type: "wait_for", ...wanted, ...(state && { state }), timeout_ms: timeoutMs }, signal);
      return undefined;
    } catch (error) {
      return this.#divergenceOf(error, `${expected}${state === undefined ? "" : ` is ${state}`}`, "unexpected");
    }
  }

  /** @throws errors that are not about the page. */
  async #divergenceOf(error: unknown, expected: string, code?: string): Promise<FlowDivergence> {
    if (!ServiceError.isInstance(error) || error.status >= 500 || error.status === 400) throw error;
    const { hint, problem } = error;
    const seen = hint === undefined ? problem : `${problem} ${hint}`;
    return this.#divergence({
      code: error.code === "wait_timeout" ? (code ?? error.code) : error.code,
      expected,
      seen,
      candidates: [],
    });
  }

  async #divergence(
    known: Omit<FlowDivergence, "candidates" | "title" | "url"> & { readonly candidates: readonly string[] },
  ) {
    const front = (await this.#pages.tabs()).find(({ active }) => active);
    return {
      code: known.code,
      expected: known.expected.slice(0, maxText),
      seen: known.seen.slice(0, maxText),
      candidates: [...known.candidates],
      url: (front?.url ?? "").slice(0, maxText),
      title: (front?.title ?? "").slice(0, maxText),
    };
  }
}

function describedTarget({ fallbacks, name, role, within }: FlowTarget): string {
  const place = within === undefined ? "" : ` in ${described(within.role, within.name)}`;
  const [first] = fallbacks;
  const shown =
    name === undefined && first !== undefined
      ? `${role ?? "element"} with ${first.by} ${JSON.stringify(first.value)}`
      : described(role, name);
  return `${shown}${place}`;
}
