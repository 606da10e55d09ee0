import * as z from "zod/mini";
import { lazyObject, openEnum, type Schema } from "../base/schema.ts";
import { StoredSecret } from "../base/stored-secret.ts";
import { FlowPlace, flowActions } from "./flow-step.ts";

/**
 * Also accepts values of newer services. The type has only the known ones, so that steps of an answer are steps of a request;
 * a `switch` needs a `default`.
 */
function known<const Values extends readonly string[]>(...values: Values): Schema<Values[number]> {
  // The checker drops the open part of the type at this assertion.
  return openEnum(...values) as Schema as Schema<Values[number]>;
}

/** Another way to find an element. */
export interface StoredFlowFallback extends z.output<typeof StoredFlowFallback> {}
export const StoredFlowFallback = lazyObject(() => ({
  /** As in `FlowFallback`. */
  by: known("label", "placeholder", "test_id", "css", "near"),
  /** The text, id or selector. */
  value: z.string(),
}));

/** The element of a step. */
export interface StoredFlowTarget extends z.output<typeof StoredFlowTarget> {}
export const StoredFlowTarget = lazyObject(() => ({
  /** Role of the element. */
  role: z.optional(z.string()),
  /** Its whole accessible name. */
  name: z.optional(z.string()),
  /** The part of the page that contains it. */
  within: z.optional(FlowPlace),
  /** Other ways to find it. */
  fallbacks: z.array(StoredFlowFallback),
}));

/** A condition after a step. */
export interface StoredFlowExpectation extends z.output<typeof StoredFlowExpectation> {}
export const StoredFlowExpectation = lazyObject(() => ({
  /** The address of the page, in which `*` matches any characters. */
  url: z.optional(z.string()),
  /** A text of the page. */
  text: z.optional(z.string()),
  /** An element, by its role and name. */
  element: z.optional(
    lazyObject(() => ({
      /** Its role. */
      role: z.string(),
      /** Its accessible name. */
      name: z.string(),
    })),
  ),
  /** State of the text or element; `visible` when absent. */
  state: z.optional(known("visible", "hidden", "enabled", "disabled")),
}));

/** A step of a flow, with every default. */
export interface StoredFlowStep extends z.output<typeof StoredFlowStep> {}
export const StoredFlowStep = lazyObject(() => ({
  /** The action. */
  action: known(...flowActions),
  /** The element. */
  target: z.optional(StoredFlowTarget),
  /** The value of a field, or the answer to a `prompt`. */
  text: z.optional(z.string()),
  /** A value of a stored credential, instead of `text`. */
  secret: z.optional(StoredSecret),
  /** Press Enter afterwards. */
  submit: z.optional(z.boolean()),
  /** Check or uncheck, accept or dismiss. */
  accept: z.optional(z.boolean()),
  /** Values or labels of options. */
  values: z.optional(z.array(z.string())),
  /** Keys or chords. */
  keys: z.optional(z.array(z.string())),
  /** The address to open. */
  url: z.optional(z.string()),
  /** The mouse button. */
  button: z.optional(known("left", "right", "middle")),
  /** Number of clicks. */
  click_count: z.optional(z.int()),
  /** CSS pixels to the right. */
  delta_x: z.optional(z.int()),
  /** CSS pixels down. */
  delta_y: z.optional(z.int()),
  /** Conditions after the action. */
  expect: z.array(StoredFlowExpectation),
  /** Longest wait for the element, and again for the expectations, in milliseconds. */
  timeout_ms: z.int(),
  /** If the page differs from the flow. */
  on_divergence: known("stop", "continue", "wait"),
}));

/** A parameter of a flow. */
export interface StoredFlowParameter extends z.output<typeof StoredFlowParameter> {}
export const StoredFlowParameter = lazyObject(() => ({
  /** Its name. */
  name: z.string(),
  /** Used when a run sets no value. */
  default: z.optional(z.string()),
  /** Whether its values are references to stored credentials, never texts. */
  secret: z.boolean(),
}));
