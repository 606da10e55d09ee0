import { ActOnPage, ObservePage, ReadPage, ScreenshotPage } from "@shoal/schemas";
import * as z from "zod/mini";
import type { ToolNames } from "./failure-text.ts";
import { type Fields, fieldsOf, joined, neededFieldsOf, noFields, ownField } from "./fields.ts";

/** A tool of a model that is one call of a page's operations. */
export interface PageTool {
  readonly name: string;
  /** In the group `act`, the `type` of the action; the name when absent. */
  readonly action?: ActOnPage["type"];
  /** The operation that it calls. */
  readonly group: "observe" | "act" | "read" | "screenshot";
  readonly title: string;
  /** Models read it with every request: short. */
  readonly description: string;
  readonly effect: "reads" | "changes";
  readonly fields: Fields<object>;
}

const target = fieldsOf(ActOnPage, {
  ref: "Element from a snapshot: e12",
  role: "Without ref: its role",
  name: "Without ref: its name",
  selector: "Without ref: CSS selector",
});
/** Without 0: models send it for fields that they do not use. */
const timeout = ownField(
  "timeout_ms",
  z._default(z.int().check(z.minimum(1), z.maximum(60_000)), 10_000),
  "Longest wait",
);
const holdKeys = fieldsOf(ActOnPage, { hold_keys: "Keys to hold: Shift" });

const action = (name: ActOnPage["type"], title: string, description: string, fields: Fields<object>): PageTool => ({
  name,
  group: "act",
  title,
  description,
  effect: "changes",
  fields,
});

const historyTexts = {
  back: "Go back in the history.",
  forward: "Go forward in the history.",
  reload: "Reload the page.",
};

const actTools: readonly PageTool[] = [
  action(
    "navigate",
    "Navigate",
    "Open an address in the front tab.",
    joined(neededFieldsOf(ActOnPage, { url: "Address" }), timeout),
  ),
  action(
    "click",
    "Click",
    "Click an element.",
    joined(joined(target, holdKeys), fieldsOf(ActOnPage, { button: "Default left", click_count: "2 = double click" })),
  ),
  action(
    "fill",
    "Fill a field",
    "Replace the value of a field.",
    joined(
      target,
      joined(
        neededFieldsOf(ActOnPage, { text: "New value" }),
        fieldsOf(ActOnPage, { submit: "Press Enter afterwards" }),
      ),
    ),
  ),
  {
    ...action(
      "fill",
      "Fill in a stored secret",
      "Fill a field with a value of a stored credential, such as a password, which you do not see.",
      joined(
        target,
        joined(
          neededFieldsOf(ActOnPage, { secret: "Credential by name, and its field: username, password, totp_code" }),
          fieldsOf(ActOnPage, { submit: "Press Enter afterwards" }),
        ),
      ),
    ),
    name: "fill_secret",
    action: "fill",
  },
  action(
    "check",
    "Check or uncheck",
    "Check or uncheck a checkbox, switch or radio button.",
    joined(target, fieldsOf(ActOnPage, { accept: "false = uncheck" })),
  ),
  action(
    "select",
    "Select options",
    "Select options of a list.",
    joined(target, neededFieldsOf(ActOnPage, { values: "Labels or values" })),
  ),
  action(
    "press",
    "Press keys",
    "Press keys in an element or the focused one.",
    joined(target, neededFieldsOf(ActOnPage, { keys: "Keys or chords: Enter, Control+A" })),
  ),
  action("hover", "Hover", "Move the pointer over an element.", joined(target, holdKeys)),
  action(
    "drag",
    "Drag",
    "Drag an element onto another, or by pixels.",
    joined(target, fieldsOf(ActOnPage, { to: "Where to drop", delta_x: "Pixels right", delta_y: "Pixels down" })),
  ),
  action(
    "upload",
    "Upload files",
    "Set the files of a file field.",
    joined(target, neededFieldsOf(ActOnPage, { paths: "Absolute paths; write_file creates files" })),
  ),
  action(
    "scroll",
    "Scroll",
    "Scroll; without deltas, bring the element into view.",
    joined(target, fieldsOf(ActOnPage, { delta_x: "Pixels right", delta_y: "Pixels down" })),
  ),
  {
    name: "wait_for",
    group: "act",
    title: "Wait",
    description: "Wait for an element, a text or an address.",
    effect: "reads",
    fields: joined(
      target,
      joined(
        fieldsOf(ActOnPage, { text: "Text that appears", url: "Address or pattern with *", state: "Default visible" }),
        timeout,
      ),
    ),
  },
  ...(["back", "forward", "reload"] as const).map((name) =>
    action(name, { back: "Back", forward: "Forward", reload: "Reload" }[name], historyTexts[name], noFields),
  ),
  action("open_tab", "Open a tab", "Open a tab and bring it to the front.", fieldsOf(ActOnPage, { url: "Address" })),
  action("select_tab", "Select a tab", "Bring a tab to the front.", neededFieldsOf(ActOnPage, { tab: "Id: t2" })),
  action("close_tab", "Close a tab", "Close a tab.", fieldsOf(ActOnPage, { tab: "Default the front tab" })),
  action(
    "answer_dialog",
    "Answer a dialog",
    "Answer an open dialog of the page.",
    fieldsOf(ActOnPage, { accept: "false = dismiss", text: "Answer to a prompt" }),
  ),
];

/** Tools that observe, act, read and take pictures, for models. */
export const pageTools: readonly PageTool[] = [
  {
    name: "snapshot",
    group: "observe",
    title: "Outline the page",
    description: "Outline the page: one line per element, with refs for other tools.",
    effect: "reads",
    fields: fieldsOf(ObservePage, {
      max_tokens: "Limit",
      diff: "Only changes since the last",
      ref: "Only this element",
      tab: "Default the front tab",
    }),
  },
  ...actTools,
  {
    name: "read",
    group: "read",
    title: "Read the page",
    description: "Read the page as Markdown.",
    effect: "reads",
    fields: fieldsOf(ReadPage, {
      content: "main text or all",
      max_tokens: "Limit",
      offset: "next_offset of the previous part",
      links: "With addresses of links",
      ref: "Only this element",
      selector: "Only this CSS selector",
      tab: "Default the front tab",
    }),
  },
  {
    name: "screenshot",
    group: "screenshot",
    title: "Take a picture",
    description: "Take a picture of the page. Prefer snapshot or read for text.",
    effect: "reads",
    fields: fieldsOf(ScreenshotPage, {
      full_page: "Also the hidden parts",
      ref: "Only this element",
      labels: "Draw refs on the picture",
      max_width: "Default 1280",
      tile: "Part of a high picture, from 1",
      tab: "Default the front tab",
    }),
  },
];

/** Names of these tools by the operation that they call; of actions none, because many tools are one operation. */
export const toolsOfPages: ToolNames = new Map(
  pageTools.flatMap(({ group, name }) => (group === "act" ? [] : [[`browsers.${group}`, name] as const])),
);
