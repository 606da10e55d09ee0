import { actOnPage } from "@shoal/contract";
import { ActOnPage, ActResult } from "@shoal/schemas";
import { actText } from "../answers/page-text.ts";
import { type Fields, fieldsOf, joined, neededFieldsOf, noFields } from "../base/fields.ts";
import { defineTool, text, type Tool, type ToolCall, type ToolDefinition } from "../base/tool.ts";

type Action = ActOnPage["type"];

const target = fieldsOf(ActOnPage, {
  ref: "Element from a snapshot: e12",
  role: "Without ref: its role",
  name: "Without ref: its name",
  selector: "Without ref: CSS selector",
});
const timeout = fieldsOf(ActOnPage, { timeout_ms: "Longest wait" });
const holdKeys = fieldsOf(ActOnPage, { hold_keys: "Keys to hold: Shift" });

async function act(type: Action, input: object, { browser, options, outlineTokens, transport }: ToolCall) {
  const body: ActOnPage = {
    ...input,
    type,
    ...(outlineTokens > 0 && { observe: { diff: true, max_tokens: outlineTokens } }),
  };
  const result = await transport.call(actOnPage, { params: { id: await browser() }, body }, options);
  return { content: [text(actText(result))], structured: result };
}

function actTool<Input extends object>(
  definition: Pick<ToolDefinition<Input>, "name" | "title" | "description" | "fields"> & {
    readonly effect?: "reads";
    readonly action: (input: Input) => { readonly type: Action; readonly input: object };
  },
): Tool {
  const { action, effect = "changes", ...rest } = definition;
  return defineTool({
    ...rest,
    effect,
    group: "act",
    output: ActResult,
    run(given, call) {
      const { input, type } = action(given);
      return act(type, input, call);
    },
  });
}

/** A tool that is one action of the contract. */
const same = <Input extends object>(name: Action, title: string, description: string, fields: Fields<Input>): Tool =>
  actTool({ name, title, description, fields, action: (input) => ({ type: name, input }) });

const historyTexts = {
  back: "Go back in the history.",
  forward: "Go forward in the history.",
  reload: "Reload the page.",
};

export const actTools: readonly Tool[] = [
  same(
    "navigate",
    "Navigate",
    "Open an address in the front tab.",
    joined(neededFieldsOf(ActOnPage, { url: "Address" }), timeout),
  ),
  same(
    "click",
    "Click",
    "Click an element.",
    joined(joined(target, holdKeys), fieldsOf(ActOnPage, { button: "Default left", click_count: "2 = double click" })),
  ),
  same(
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
  same(
    "check",
    "Check or uncheck",
    "Check or uncheck a checkbox, switch or radio button.",
    joined(target, fieldsOf(ActOnPage, { accept: "false = uncheck" })),
  ),
  same(
    "select",
    "Select options",
    "Select options of a list.",
    joined(target, neededFieldsOf(ActOnPage, { values: "Labels or values" })),
  ),
  same(
    "press",
    "Press keys",
    "Press keys in an element, or in the focused one.",
    joined(target, neededFieldsOf(ActOnPage, { keys: "Keys or chords: Enter, Control+A" })),
  ),
  same("hover", "Hover", "Move the pointer over an element.", joined(target, holdKeys)),
  same(
    "drag",
    "Drag",
    "Drag an element onto another.",
    joined(target, neededFieldsOf(ActOnPage, { to: "Where to drop" })),
  ),
  same(
    "upload",
    "Upload files",
    "Set the files of a file field.",
    joined(target, neededFieldsOf(ActOnPage, { paths: "Absolute paths in the session; write_file creates files" })),
  ),
  same(
    "scroll",
    "Scroll",
    "Scroll the page or an element; without deltas, bring the element into view.",
    joined(target, fieldsOf(ActOnPage, { delta_x: "Pixels right", delta_y: "Pixels down" })),
  ),
  actTool({
    name: "wait_for",
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
    action: (input) => ({ type: "wait_for", input }),
  }),
  ...(["back", "forward", "reload"] as const).map((name) =>
    same(name, { back: "Back", forward: "Forward", reload: "Reload" }[name], historyTexts[name], noFields),
  ),
  same("open_tab", "Open a tab", "Open a tab and bring it to the front.", fieldsOf(ActOnPage, { url: "Address" })),
  same("select_tab", "Select a tab", "Bring a tab to the front.", neededFieldsOf(ActOnPage, { tab: "Id: t2" })),
  same("close_tab", "Close a tab", "Close a tab.", fieldsOf(ActOnPage, { tab: "Id: t2; default the front tab" })),
  same(
    "answer_dialog",
    "Answer a dialog",
    "Answer an open dialog of the page.",
    fieldsOf(ActOnPage, { accept: "false = dismiss", text: "Answer to a prompt" }),
  ),
];
