import * as z from "zod/mini";
import { exactlyOne, rule } from "../base/rules.ts";
import { checked, lazyObject, noNul } from "../base/schema.ts";
import { StoredSecret } from "../base/stored-secret.ts";

/** The actions of a step: those of `browsers.act` without files and chosen tabs, and `expect`, which only waits. */
export const flowActions = [
  "click",
  "fill",
  "check",
  "select",
  "press",
  "hover",
  "scroll",
  "navigate",
  "back",
  "forward",
  "reload",
  "open_tab",
  "close_tab",
  "answer_dialog",
  "expect",
] as const;

const text = (most: number) => checked(z.string(), z.minLength(1), z.maxLength(most), noNul());
const Pixels = () => checked(z.int(), z.minimum(-100_000), z.maximum(100_000));
const Address = () => text(8192);

/** Another way to find an element. It counts only if exactly one element of the role matches. */
export interface FlowFallback extends z.output<typeof FlowFallback> {}
export const FlowFallback = lazyObject(() => ({
  /**
   * `label`: text of its label; `placeholder`; `test_id`: `data-testid`, `data-test-id`, `data-test`, `data-cy` or `data-qa`; `css`: a
   * selector; `near`: text of the row or group around it.
   */
  by: z.enum(["label", "placeholder", "test_id", "css", "near"]),
  /** The text, id or selector, at most 1,000 characters. */
  value: text(1000),
}));

/** A named part of a page around an element. */
export interface FlowPlace extends z.output<typeof FlowPlace> {}
export const FlowPlace = lazyObject(() => ({
  /** Its role: `row`, `listitem`, `group`, `form`, `dialog`, `navigation`, `region`. */
  role: text(64),
  /** Its accessible name, or a text in it. */
  name: text(1000),
}));

/** The element of a step. */
export interface FlowTarget extends z.output<typeof FlowTarget> {}
export const FlowTarget = z.lazy(() =>
  checked(
    z.object({
      /** Role of the element: `button`. */
      role: z.optional(text(64)),
      /** Its whole accessible name. Case and white space do not matter. */
      name: z.optional(text(1000)),
      /** The part of the page that contains it, for names that occur several times. */
      within: z.optional(FlowPlace),
      /** Other ways, at most 8, which count when no element has the role and the name. */
      fallbacks: z._default(checked(z.array(FlowFallback), z.maxLength(8)), []),
    }),
    rule<{ readonly name?: unknown; readonly fallbacks?: readonly unknown[] }>(
      ({ fallbacks = [], name }) => name !== undefined || fallbacks.length > 0,
      { path: ["name"], error: "an element needs a name or a fallback" },
      {
        keywords: {
          anyOf: [{ required: ["name"] }, { properties: { fallbacks: { minItems: 1 } }, required: ["fallbacks"] }],
        },
      },
    ),
    rule<{ readonly name?: unknown; readonly role?: unknown }>(
      ({ name, role }) => name === undefined || role !== undefined,
      { path: ["role"], error: "a name needs a role" },
      { needs: ["name", "role"] },
    ),
  ),
);

/** A condition after a step. Exactly one of `url`, `text` and `element`. */
export interface FlowExpectation extends z.output<typeof FlowExpectation> {}
export const FlowExpectation = z.lazy(() =>
  checked(
    z.object({
      /** The address of the page, in which `*` matches any characters. */
      url: z.optional(Address()),
      /** A text of the page. Case and white space do not matter. */
      text: z.optional(text(1000)),
      /** An element, by its role and name. */
      element: z.optional(
        lazyObject(() => ({
          /** Its role: `heading`. */
          role: text(64),
          /** Its accessible name. */
          name: text(1000),
        })),
      ),
      /** State of the text or element; `visible` when absent. A text is `visible` or `hidden`. */
      state: z.optional(z.enum(["visible", "hidden", "enabled", "disabled"])),
    }),
    exactlyOne("url", "text", "element"),
    rule<{ readonly element?: unknown; readonly state?: unknown; readonly url?: unknown }>(
      ({ element, state, url }) =>
        state === undefined ||
        (url === undefined && (element !== undefined || state === "visible" || state === "hidden")),
      { path: ["state"], error: "only for a text (visible, hidden) or an element" },
      {
        keywords: {
          if: { required: ["state"] },
          then: {
            not: { required: ["url"] },
            anyOf: [{ required: ["element"] }, { properties: { state: { enum: ["visible", "hidden"] } } }],
          },
        },
      },
    ),
  ),
);

/** A step of a flow. `{{name}}` in `text`, `url`, `values` and expectations is the value of a parameter. */
export interface FlowStep extends z.output<typeof FlowStep> {}
export const FlowStep = lazyObject(() => ({
  /** The action. `expect` only waits for its expectations. */
  action: z.enum(flowActions),
  /** The element, for actions that need one. */
  target: z.optional(FlowTarget),
  /** For `fill`: the value; for `answer_dialog`: the answer to a `prompt`. At most 10,000 characters. */
  text: z.optional(checked(z.string(), z.maxLength(10_000), noNul())),
  /** For `fill`, instead of `text`: a value of a stored credential. */
  secret: z.optional(StoredSecret),
  /** For `fill`: press Enter afterwards. */
  submit: z.optional(z.boolean()),
  /** For `check` and `answer_dialog`: as in `browsers.act`. */
  accept: z.optional(z.boolean()),
  /** For `select`: values or labels of the options, 1 to 20. */
  values: z.optional(
    checked(z.array(checked(z.string(), z.maxLength(1000), noNul())), z.minLength(1), z.maxLength(20)),
  ),
  /** For `press`: 1 to 20 keys or chords, as in `browsers.act`. */
  keys: z.optional(checked(z.array(text(64)), z.minLength(1), z.maxLength(20))),
  /** For `navigate` and `open_tab`: the address. */
  url: z.optional(Address()),
  /** For `click`: the mouse button. */
  button: z.optional(z.enum(["left", "right", "middle"])),
  /** For `click`: 1 to 3 clicks. */
  click_count: z.optional(checked(z.int(), z.minimum(1), z.maximum(3))),
  /** For `scroll`: CSS pixels to the right. */
  delta_x: z.optional(Pixels()),
  /** For `scroll`: CSS pixels down. */
  delta_y: z.optional(Pixels()),
  /** Conditions after the action, at most 10. */
  expect: z._default(checked(z.array(FlowExpectation), z.maxLength(10)), []),
  /** Longest wait for the element, and again for the expectations, in milliseconds, 0 to 60,000. */
  timeout_ms: z._default(checked(z.int(), z.minimum(0), z.maximum(60_000)), 10_000),
  /**
   * If the page differs from the flow: `stop` the run; `continue` with the next step; `wait` until a person has done the step in a
   * handoff.
   */
  on_divergence: z._default(z.enum(["stop", "continue", "wait"]), "stop"),
}));

/** A value of a flow that each run sets. */
export interface FlowParameter extends z.output<typeof FlowParameter> {}
export const FlowParameter = z.lazy(() =>
  checked(
    z.object({
      /** A letter, then up to 63 letters, digits or underscores, all lower case. */
      name: checked(z.string(), z.regex(/^[a-z][a-z0-9_]{0,63}$/)),
      /** Used when a run sets no value. Without it, a run must set one. */
      default: z.optional(checked(z.string(), z.maxLength(10_000), noNul())),
      /** Whether its values are references to stored credentials, never texts. */
      secret: z._default(z.boolean(), false),
    }),
    rule<{ readonly default?: unknown; readonly secret?: boolean }>(
      ({ default: usual, secret = false }) => !secret || usual === undefined,
      { path: ["default"], error: "a secret parameter has no default" },
      {
        keywords: {
          if: { properties: { secret: { const: true } }, required: ["secret"] },
          then: { not: { required: ["default"] } },
        },
      },
    ),
  ),
);

/** Steps with their parameters. */
export const flowContentFields = () => ({
  /** Address of the page on which the flow starts. */
  start_url: Address(),
  /** At most 50, with different names. */
  parameters: z._default(checked(z.array(FlowParameter), z.maxLength(50)), []),
  /** 1 to 200. */
  steps: checked(z.array(FlowStep), z.minLength(1), z.maxLength(200)),
});
