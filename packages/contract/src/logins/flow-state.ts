import { isSameQuestion, type Question } from "./question.ts";

/** How far a login is. */
export type FlowStatus = "IN_PROGRESS" | "SUCCESS" | "FAILED" | "EXPIRED" | "CANCELED";
/** Step of a login. */
export type FlowStep = "DISCOVERING" | "AWAITING_INPUT" | "AWAITING_EXTERNAL_ACTION" | "SUBMITTING" | "COMPLETED";

/** The state of a login. Every change goes through {@link nextState}. */
export interface FlowState {
  readonly status: FlowStatus;
  readonly step: FlowStep;
  /** Set while the login waits for a person, like its two neighbours. */
  readonly question?: Question;
  readonly interactionId?: string;
  readonly askedAtMs?: number;
  readonly expiresAtMs: number;
  readonly error?: FlowError;
  readonly postLoginUrl?: string;
}

/** Why a login failed. */
export interface FlowError {
  readonly code: string;
  readonly message: string;
  /** The site's words. */
  readonly websiteError?: string;
}

/** A change of a login. `needs` has the id of a new question; `works` continues without an answer; `clock` only passes time. */
export type FlowInput =
  | { readonly kind: "needs"; readonly question: Question; readonly interactionId: string }
  | { readonly kind: "answered"; readonly interactionId: string }
  | { readonly kind: "works" }
  | { readonly kind: "signed_in"; readonly url: string }
  | ({ readonly kind: "failed" } & FlowError)
  | { readonly kind: "canceled" }
  | { readonly kind: "clock" };

/** Milliseconds that a login may take in all. */
export const flowMs = 20 * 60_000;
/** Milliseconds that a login waits for one answer. */
export const answerMs = 10 * 60_000;

/** The state of a login that has just begun. */
export function firstState(nowMs: number): FlowState {
  return { status: "IN_PROGRESS", step: "DISCOVERING", expiresAtMs: nowMs + flowMs };
}

/**
 * Returns the state after an input, or the same object when the input does not fit: answers to earlier questions,
 * repeated answers, and everything after the end.
 */
export function nextState(state: FlowState, input: FlowInput, nowMs: number): FlowState {
  if (state.status !== "IN_PROGRESS") return state;
  const late = afterTime(state, nowMs);
  if (late !== undefined) return late;
  switch (input.kind) {
    case "needs":
      return asked(state, input, nowMs);
    case "answered":
      return state.interactionId === input.interactionId ? at(state, "SUBMITTING") : state;
    case "works":
      return state.step === "AWAITING_EXTERNAL_ACTION" ? at(state, "SUBMITTING") : state;
    case "signed_in":
      return { ...at(state, "COMPLETED"), status: "SUCCESS", postLoginUrl: input.url };
    case "failed": {
      const { kind: _kind, ...error } = input;
      return { ...at(state, "COMPLETED"), status: "FAILED", error };
    }
    case "canceled":
      return { ...at(state, "COMPLETED"), status: "CANCELED" };
    case "clock":
      return state;
  }
}

function at({ expiresAtMs }: FlowState, step: FlowStep): FlowState {
  return { status: "IN_PROGRESS", step, expiresAtMs };
}

function failed(state: FlowState, code: string, message: string): FlowState {
  return { ...at(state, "COMPLETED"), status: "FAILED", error: { code, message } };
}

function afterTime(state: FlowState, nowMs: number): FlowState | undefined {
  if (nowMs >= state.expiresAtMs) return { ...at(state, "COMPLETED"), status: "EXPIRED" };
  if (state.askedAtMs === undefined || nowMs < state.askedAtMs + answerMs) return undefined;
  const minutes = `within ${String(answerMs / 60_000)} minutes. Start the login again.`;
  return state.step === "AWAITING_INPUT"
    ? failed(state, "awaiting_input_timeout", `The login got no answer ${minutes}`)
    : failed(state, "external_action_timeout", `The action was not completed ${minutes}`);
}

function asked(
  state: FlowState,
  { interactionId, question }: Extract<FlowInput, { kind: "needs" }>,
  nowMs: number,
): FlowState {
  // The page is read again while a person acts elsewhere. The answer to an unchanged question stays valid.
  if (state.question !== undefined && isSameQuestion(state.question, question)) return state;
  const step =
    question.external !== undefined && question.fields.length === 0 ? "AWAITING_EXTERNAL_ACTION" : "AWAITING_INPUT";
  return { ...at(state, step), question, interactionId, askedAtMs: nowMs };
}
