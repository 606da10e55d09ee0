import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerMs, firstState, flowMs, type FlowInput, type FlowState, nextState } from "./flow-state.ts";
import type { Question } from "./question.ts";

const password: Question = {
  fields: [{ name: "password", kind: "password", label: "Password", required: true }],
  choices: [],
};
const push: Question = { fields: [], choices: [], external: { message: "Approve the sign-in on your phone." } };
const failure = { kind: "failed", code: "website_error", message: "The site is closed." } as const;

/** Applies inputs at times from the start of the login. */
function run(...inputs: readonly (readonly [FlowInput, number?])[]): FlowState {
  let state = firstState(0);
  for (const [input, atMs = 0] of inputs) state = nextState(state, input, atMs);
  return state;
}

const needs = (question: Question, interactionId: string): FlowInput => ({ kind: "needs", question, interactionId });

describe("a login", () => {
  it("asks, submits and succeeds", () => {
    const waiting = run([needs(password, "a")]);
    expect(waiting).toMatchObject({ status: "IN_PROGRESS", step: "AWAITING_INPUT", interactionId: "a" });
    const submitting = nextState(waiting, { kind: "answered", interactionId: "a" }, 1);
    expect(submitting).toEqual({ status: "IN_PROGRESS", step: "SUBMITTING", expiresAtMs: flowMs });
    expect(nextState(submitting, { kind: "signed_in", url: "https://example.com/" }, 2)).toEqual({
      status: "SUCCESS",
      step: "COMPLETED",
      expiresAtMs: flowMs,
      postLoginUrl: "https://example.com/",
    });
  });

  it("continues after an action elsewhere, without an answer", () => {
    expect(run([needs(push, "a")]).step).toBe("AWAITING_EXTERNAL_ACTION");
    expect(run([needs(push, "a")], [{ kind: "works" }]).step).toBe("SUBMITTING");
    expect(run([needs(password, "a")], [{ kind: "works" }]).step).toBe("AWAITING_INPUT");
  });

  it("keeps the question and its deadline while the page stays the same", () => {
    const waiting = run([needs(push, "a")]);
    const { choices, external, fields } = push;
    expect(nextState(waiting, needs({ external, fields, choices } as Question, "b"), 5_000)).toBe(waiting);
    expect(nextState(waiting, needs(password, "b"), 5_000)).toMatchObject({ interactionId: "b", askedAtMs: 5_000 });
  });

  it("ignores answers to other questions and repeated answers", () => {
    const second = run([needs(password, "a")], [{ kind: "answered", interactionId: "a" }], [needs(push, "b")]);
    expect(nextState(second, { kind: "answered", interactionId: "a" }, 1)).toBe(second);
    const submitting = run([needs(password, "a")], [{ kind: "answered", interactionId: "a" }]);
    expect(nextState(submitting, { kind: "answered", interactionId: "a" }, 1)).toBe(submitting);
  });

  it.each([
    ["an answer", password, "awaiting_input_timeout"],
    ["an action elsewhere", push, "external_action_timeout"],
  ] as const)("fails when it waits too long for %s", (_what, question, code) => {
    const waiting = run([needs(question, "a"), 1_000]);
    expect(nextState(waiting, { kind: "clock" }, answerMs + 999)).toBe(waiting);
    expect(nextState(waiting, { kind: "answered", interactionId: "a" }, answerMs + 1_000)).toMatchObject({
      status: "FAILED",
      error: { code },
    });
  });

  it("expires after its whole time", () => {
    expect(run([{ kind: "clock" }, flowMs - 1]).status).toBe("IN_PROGRESS");
    expect(run([{ kind: "clock" }, flowMs]).status).toBe("EXPIRED");
    expect(run([failure, flowMs]).status).toBe("EXPIRED");
  });

  const input: fc.Arbitrary<FlowInput> = fc.oneof(
    fc.record({
      kind: fc.constant("needs" as const),
      question: fc.constantFrom(password, push),
      interactionId: fc.uuid(),
    }),
    fc.record({ kind: fc.constant("answered" as const), interactionId: fc.constantFrom("latest", "earlier") }),
    fc.constantFrom<FlowInput>({ kind: "works" }, { kind: "clock" }, { kind: "canceled" }, failure, {
      kind: "signed_in",
      url: "https://example.com/",
    }),
  );

  it("takes each answer once, asks only while it waits, and stays as it ended, for any sequence of inputs", () => {
    const steps = fc.array(fc.tuple(input, fc.integer({ min: 0, max: answerMs })), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (inputs) => {
        let state = firstState(0);
        let nowMs = 0;
        const ids: string[] = [];
        const answered: string[] = [];
        for (const [drawn, passedMs] of inputs) {
          nowMs += passedMs;
          const id = drawn.kind === "answered" && drawn.interactionId === "earlier" ? ids.at(-2) : ids.at(-1);
          const given = drawn.kind === "answered" ? { ...drawn, interactionId: id ?? "none" } : drawn;
          const before = state;
          state = nextState(before, given, nowMs);
          if (state.interactionId !== undefined && state.interactionId !== before.interactionId)
            ids.push(state.interactionId);
          if (given.kind === "answered" && state.step === "SUBMITTING" && state !== before)
            answered.push(given.interactionId);
          expect(state.question !== undefined).toBe(state.step.startsWith("AWAITING"));
          expect(state.interactionId !== undefined).toBe(state.question !== undefined);
          expect(state.step === "COMPLETED").toBe(state.status !== "IN_PROGRESS");
          expect((state.error !== undefined) === (state.status === "FAILED")).toBe(true);
          if (before.status !== "IN_PROGRESS") expect(state).toBe(before);
          if (nowMs >= flowMs) expect(state.status).not.toBe("IN_PROGRESS");
        }
        expect(new Set(answered).size).toBe(answered.length);
      }),
    );
  });
});
