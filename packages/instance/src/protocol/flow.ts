import {
  ActOnPage,
  checked,
  FlowDivergence,
  FlowExpectation,
  FlowTarget,
  lazyObject,
  StoredSecret,
} from "@shoal/schemas";
import * as z from "zod/mini";
import { OfferedSecret } from "./offered-secret.ts";

/** Actions that an instance remembers. */
export const maxRecordedActs = 500;
/** The service reads at most this many bytes of them. */
export const maxRecordedBytes = 4 * 1024 * 1024;
/** Longest typed text that is remembered, in characters. */
export const maxRecordedText = 10_000;

/** Of a JPEG. */
export const maxPictureBytes = 128 * 1024;

/** An action of `browsers.act` that succeeded, as a flow can repeat it. */
export interface RecordedAct extends z.output<typeof RecordedAct> {}
export const RecordedAct = lazyObject(() => ({
  /** Milliseconds since 1970. */
  at: z.number(),
  action: checked(z.string(), z.maxLength(64)),
  /** Address of the page before it. */
  before_url: z.string(),
  /** Address of the page in front after it. */
  page_url: z.string(),
  navigated: z.boolean(),
  target: z.optional(FlowTarget),
  /** Typed text; absent for a field for secrets. */
  text: z.optional(checked(z.string(), z.maxLength(maxRecordedText))),
  /** Whether it typed something that is not remembered. */
  is_hidden: z.optional(z.boolean()),
  secret: z.optional(StoredSecret),
  submit: z.optional(z.boolean()),
  accept: z.optional(z.boolean()),
  values: z.optional(z.array(z.string())),
  keys: z.optional(z.array(z.string())),
  url: z.optional(z.string()),
  button: z.optional(z.string()),
  click_count: z.optional(z.int()),
  delta_x: z.optional(z.int()),
  delta_y: z.optional(z.int()),
  state: z.optional(z.string()),
  /** Fields of the action that a flow does not have, or with values that it does not have. */
  other_fields: z.optional(z.array(z.string())),
}));

export interface RecordedActs extends z.output<typeof RecordedActs> {}
export const RecordedActs = lazyObject(() => ({
  /** The oldest first. */
  acts: checked(z.array(RecordedAct), z.maxLength(maxRecordedActs)),
  /** Older actions that are forgotten. */
  forgotten: z.int(),
}));

/** A step of a flow, with the values of its parameters. */
export interface ReplayStep extends z.input<typeof ReplayStep> {}
export const ReplayStep = lazyObject(() => ({
  /** The fields of the action without an element; absent for a step that only waits. */
  act: z.optional(ActOnPage),
  target: z.optional(FlowTarget),
  /** Whether a wrong element would do harm: a guess is then refused. */
  is_guarded: z.boolean(),
  expect: checked(z.array(FlowExpectation), z.maxLength(20)),
  timeout_ms: z.int(),
  /** The value to type. */
  offered: z.optional(OfferedSecret),
}));

export interface ReplayedStep extends z.output<typeof ReplayedStep> {}
export const ReplayedStep = lazyObject(() => ({
  found_by: z.nullable(checked(z.string(), z.maxLength(200))),
  /** Absent if the page is as the flow expects. */
  divergence: z.optional(FlowDivergence),
  /** Base64 of a JPEG of the page that differs. */
  picture: z.optional(checked(z.base64(), z.maxLength(Math.ceil(maxPictureBytes / 3) * 4))),
}));
