import * as z from "zod/mini";
import { printFields } from "../base/print-fields.ts";
import { checkedLater } from "../base/rules.ts";
import { checked, lazyObject } from "../base/schema.ts";
import { StoredSecret } from "../base/stored-secret.ts";

/** A reference of an outline: `e12`. */
const Ref = () => checked(z.string(), z.regex(/^e[1-9][0-9]{0,9}$/));
/** A tab of a session: `t1`. */
const Tab = () => checked(z.string(), z.regex(/^t[1-9][0-9]{0,9}$/));
const Address = () => checked(z.string(), z.minLength(1), z.maxLength(8192));
const Tokens = () => checked(z.int(), z.minimum(100), z.maximum(100_000));
const Pixels = () => checked(z.int(), z.minimum(-100_000), z.maximum(100_000));

/** A tab of a session. */
export interface BrowserTab extends z.output<typeof BrowserTab> {}
export const BrowserTab = lazyObject(() => ({
  /** Valid while the tab is open: `t1`. */
  id: z.string(),
  /** Address of its page. */
  url: z.string(),
  /** Title of its page. */
  title: z.string(),
  /** Whether it is in front. */
  active: z.boolean(),
}));

/** A dialog that a page opened. */
export interface PageDialog extends z.output<typeof PageDialog> {}
export const PageDialog = lazyObject(() => ({
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  type: z.string(),
  /** Its text. */
  message: z.string(),
  /** The preset answer of a `prompt`. */
  default_text: z.optional(z.string()),
}));

/** The hidden parts of a page. */
export interface PageScroll extends z.output<typeof PageScroll> {}
export const PageScroll = lazyObject(() => ({
  /** CSS pixels above the visible part. */
  above: z.int(),
  /** CSS pixels below the visible part. */
  below: z.int(),
}));

/** Options of an outline. */
export interface ObservePage extends z.input<typeof ObservePage> {}
export const ObservePage = lazyObject(() => ({
  /** Limit of the outline's estimated tokens, 100 to 100,000. The visible part of the page comes first. */
  max_tokens: z._default(Tokens(), 4000),
  /** Only the changes since the last outline of this tab. */
  diff: z._default(z.boolean(), false),
  /** Only this element and its content. */
  ref: z.optional(Ref()),
  /** A tab's id; the front tab when absent. */
  tab: z.optional(Tab()),
}));

/** The outline of a page. */
export interface PageObservation extends z.output<typeof PageObservation> {}
export const PageObservation = lazyObject(() => ({
  /** Address of the page. */
  url: z.string(),
  /** Title of the page. */
  title: z.string(),
  /** The observed tab. */
  tab: z.string(),
  /** All tabs, in the order in which they were opened. */
  tabs: z.array(BrowserTab),
  /**
   * One line for each element, indented by its place: role, name, state, and the reference of elements that can be
   * used. With `diff`, lines begin with `+`, `-` or `~` (added, removed, changed).
   */
  outline: z.string(),
  /** Estimated tokens of `outline`. */
  tokens: z.int(),
  /**
   * Number of elements and texts that the outline does not show: over `max_tokens`, behind a dialog, inert, or invisible
   * until scrolled.
   */
  left_out: z.int(),
  /** Whether `outline` contains only changes. False after a navigation, and for the first outline of a tab. */
  diff: z.boolean(),
  /** A dialog that is open. The page waits for its answer. */
  dialog: z.optional(PageDialog),
  /** The hidden parts above and below the visible part. */
  scroll: PageScroll,
}));

const targetFields = () => ({
  /** Reference of an element, from an outline: `e12`. */
  ref: z.optional(Ref()),
  /** Role of an element, with or without `name`: `button`. */
  role: z.optional(checked(z.string(), z.minLength(1), z.maxLength(64))),
  /** Accessible name of an element. Case does not matter; a part is enough if it is unambiguous. */
  name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(1000))),
  /** CSS selector of an element. It also finds elements in frames and open shadow roots. Hidden matches count only if no match is visible. */
  selector: z.optional(checked(z.string(), z.minLength(1), z.maxLength(2000))),
});

/** An element of a page: by `ref`, by `role` and `name`, or by `selector`. */
export interface PageTarget extends z.input<typeof PageTarget> {}
export const PageTarget = lazyObject(targetFields);

/** An action on a page. A field of another action is an error. */
export interface ActOnPage extends z.input<typeof ActOnPage> {}
export const ActOnPage = lazyObject(() => ({
  /** The action. `fill` replaces a field's value; `press` without an element presses keys in the focused one. */
  type: z.enum([
    "click",
    "fill",
    "check",
    "select",
    "press",
    "hover",
    "drag",
    "upload",
    "scroll",
    "wait_for",
    "navigate",
    "back",
    "forward",
    "reload",
    "open_tab",
    "select_tab",
    "close_tab",
    "answer_dialog",
  ]),
  /** A tab's id; the tab of `ref`, or the front tab, when absent. Input brings the tab to the front. */
  tab: z.optional(Tab()),
  ...targetFields(),
  /** For `drag`: the element to drop on. Without it, the deltas say how far to drag. */
  to: z.optional(PageTarget),
  /** For `fill`: the new value. For `wait_for`: a text that appears; case and white space do not matter. For `answer_dialog`: the answer to a `prompt`. At most 100,000 characters. */
  text: z.optional(checked(z.string(), z.maxLength(100_000))),
  /** For `fill`, instead of `text`: a value of a stored credential. It is typed on the sites of the credential only, shown as dots, and replaced by `***` in answers and telemetry. */
  secret: z.optional(StoredSecret),
  /** For `fill`: press Enter afterwards. */
  submit: z.optional(z.boolean()),
  /** For `check`: whether to check or to uncheck; `true` when absent. For `answer_dialog`: accept or dismiss; `true` when absent. */
  accept: z.optional(z.boolean()),
  /** For `select`: values or labels of the options of a `<select>`, 1 to 100. Other options are deselected. */
  values: z.optional(checked(z.array(checked(z.string(), z.maxLength(4096))), z.minLength(1), z.maxLength(100))),
  /** For `press`: 1 to 100 keys or chords, with names of Playwright or X11: `Enter`, `Control+A`, `ArrowDown`. */
  keys: z.optional(
    checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.minLength(1), z.maxLength(100)),
  ),
  /** For `upload`: absolute paths of files in the session, at most 20. An empty list clears the field. */
  paths: z.optional(
    checked(
      z.array(
        checked(z.string(), z.minLength(1), z.maxLength(4096), checkedLater({ keywords: { pattern: "^/[^\\x00]*$" } })),
      ),
      z.maxLength(20),
    ),
  ),
  /** For `scroll`, and for `drag` without `to`: CSS pixels to the right. Without both deltas, `scroll` brings the element into view. */
  delta_x: z.optional(Pixels()),
  /** For `scroll`, and for `drag` without `to`: CSS pixels down. */
  delta_y: z.optional(Pixels()),
  /** For `click`: the mouse button; `left` when absent. */
  button: z.optional(z.enum(["left", "right", "middle"])),
  /** For `click`: 1 to 3 clicks; 2 is a double click. */
  click_count: z.optional(checked(z.int(), z.minimum(1), z.maximum(3))),
  /** For `click`, `hover` and `drag`: keys to hold down, such as `Shift`; at most 4. */
  hold_keys: z.optional(checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(64))), z.maxLength(4))),
  /** For `wait_for`: the state of the element or text; `visible` when absent. */
  state: z.optional(z.enum(["visible", "hidden", "enabled", "disabled"])),
  /** For `navigate` and `open_tab`: an address; without a scheme https, or http for hosts of this machine and of private networks. For `wait_for`: an address, or a pattern in which `*` matches any characters. */
  url: z.optional(Address()),
  /** Longest wait for the element and the effects in milliseconds, 0 to 60,000. */
  timeout_ms: z._default(checked(z.int(), z.minimum(0), z.maximum(60_000)), 10_000),
  /** Also return an outline of the page after the action. */
  observe: z.optional(ObservePage),
}));

/** The element of an action, afterwards. */
export interface ActedElement extends z.output<typeof ActedElement> {}
export const ActedElement = lazyObject(() => ({
  /** Its reference. */
  ref: z.string(),
  /** Its role: `button`. */
  role: z.string(),
  /** Its accessible name. */
  name: z.string(),
  /** `checked`, `disabled`, `expanded`, `focused` and other states. */
  states: z.array(z.string()),
  /** The value of a field, at most 1,000 characters. Absent for passwords and other hidden characters. */
  value: z.optional(z.string()),
  /** `true` if the page had replaced the element of the request's `ref` since the last outline, by the only one with the same role, name and surroundings. */
  replaced: z.optional(z.boolean()),
}));

/** A request that failed. */
export interface FailedPageRequest extends z.output<typeof FailedPageRequest> {}
export const FailedPageRequest = lazyObject(() => ({
  /** Its method. */
  method: z.string(),
  /** Without query and fragment. */
  url: z.string(),
  /** HTTP status; absent when no response arrived. */
  status: z.optional(z.int()),
  /** Chromium's reason when no response arrived: `net::ERR_CONNECTION_REFUSED`. */
  error: z.optional(z.string()),
}));

/** The effects of an action. */
export interface ActResult extends z.output<typeof ActResult> {}
export const ActResult = lazyObject(() => ({
  /** The tab in front after the action. */
  tab: z.string(),
  /** Address of the page in this tab. */
  url: z.string(),
  /** Title of this page. */
  title: z.string(),
  /** The element; absent when it has gone, and for actions without one. */
  element: z.optional(ActedElement),
  /** Whether the page of the action navigated, also within its document. */
  navigated: z.boolean(),
  /** HTTP status of a new document. */
  status: z.optional(z.int()),
  /** Tabs that the action opened. */
  new_tabs: z.array(BrowserTab),
  /** A dialog that the action opened. The page waits for `answer_dialog`. */
  dialog: z.optional(PageDialog),
  /** Names of downloads that began. */
  downloads: z.array(z.string()),
  /** At most 20. */
  failed_requests: z.array(FailedPageRequest),
  /** False if the page was still loading or changing at the end of the wait. */
  settled: z.boolean(),
  /** With `observe`. */
  observation: z.optional(PageObservation),
}));

/** Options of reading a page. */
export interface ReadPage extends z.input<typeof ReadPage> {}
export const ReadPage = z.lazy(() =>
  checked(
    z.object({
      /** `main`: the main text; `all`: the whole page. */
      content: z._default(z.enum(["main", "all"]), "main"),
      /** Limit of the estimated tokens, 100 to 100,000. */
      max_tokens: z._default(Tokens(), 10_000),
      /** Continue after a part: `next_offset` of its answer. */
      offset: z._default(checked(z.int(), z.minimum(0), z.maximum(2_147_483_647)), 0),
      /** Include the addresses of links and images. */
      links: z._default(z.boolean(), true),
      /** Only this element. */
      ref: z.optional(Ref()),
      /** Only the first element with this CSS selector. */
      selector: z.optional(checked(z.string(), z.minLength(1), z.maxLength(2000))),
      /** A tab's id; the front tab when absent. */
      tab: z.optional(Tab()),
    }),
    checkedLater({ keywords: { not: { required: ["ref", "selector"] } } }),
  ),
);

/** A page as text. */
export interface PageText extends z.output<typeof PageText> {}
export const PageText = lazyObject(() => ({
  /** Address of the page. */
  url: z.string(),
  /** Title of the page. */
  title: z.string(),
  /** Main text, links, lists and tables. */
  markdown: z.string(),
  /** Estimated tokens of `markdown`. */
  tokens: z.int(),
  /** `offset` of the next part; absent at the end. */
  next_offset: z.optional(z.int()),
}));

/** Options of a PDF. */
export interface PrintPage extends z.input<typeof PrintPage> {}
export const PrintPage = lazyObject(() => ({
  ...printFields(),
  /** A tab's id; the front tab when absent. */
  tab: z.optional(Tab()),
}));

/** Options of a picture of a page. */
export interface ScreenshotPage extends z.input<typeof ScreenshotPage> {}
export const ScreenshotPage = z.lazy(() =>
  checked(
    z.object({
      /**
       * The whole page instead of its visible part. A page higher than 16,384 pixels is scaled down; above 300,000 pixels, the
       * rest is cut.
       */
      full_page: z._default(z.boolean(), false),
      /** Only this element. */
      ref: z.optional(Ref()),
      /** Only the first element with this CSS selector. */
      selector: z.optional(checked(z.string(), z.minLength(1), z.maxLength(2000))),
      /** Draw the references of usable elements. */
      labels: z._default(z.boolean(), false),
      /** The file format. */
      format: z._default(z.enum(["png", "jpeg", "webp"]), "png"),
      /** Quality of `jpeg` and `webp`, 1 to 100. */
      quality: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 80),
      /** Shrink wider pictures to this width in pixels, 100 to 16,384. */
      max_width: z.optional(checked(z.int(), z.minimum(100), z.maximum(16_384))),
      /** Only a part of a high picture: from 1 at its top, each 1,568 pixels high. */
      tile: z.optional(checked(z.int(), z.minimum(1), z.maximum(1000))),
      /** A tab's id; the front tab when absent. */
      tab: z.optional(Tab()),
    }),
    checkedLater({ keywords: { not: { required: ["ref", "selector"] } } }),
    checkedLater({
      keywords: {
        if: { required: ["full_page"], properties: { full_page: { const: true } } },
        then: { not: { anyOf: [{ required: ["ref"] }, { required: ["selector"] }] } },
      },
    }),
  ),
);
