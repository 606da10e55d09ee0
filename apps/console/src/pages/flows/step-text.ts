import type { Flow } from "@shoal/schemas";

type Step = Flow["steps"][number];

const verbs: Readonly<Record<string, string>> = {
  click: "Click",
  fill: "Fill",
  check: "Check",
  select: "Select in",
  press: "Press",
  hover: "Point at",
  scroll: "Scroll",
  navigate: "Open",
  back: "Go back",
  forward: "Go forward",
  reload: "Reload the page",
  open_tab: "Open a tab with",
  close_tab: "Close the tab",
  answer_dialog: "Answer the dialog",
  expect: "Wait",
};

/** A step as a sentence: `Fill textbox "Search" with {{product}}`. */
export function stepText({ accept, action, keys, secret, submit, target, text, url, values }: Step): string {
  const verb = action === "check" && accept === false ? "Uncheck" : (verbs[action] ?? action);
  const given =
    secret === undefined
      ? (text ?? values?.join(", "))
      : `the value ${secret.field} of the credential ${secret.credential}`;
  return [
    verb,
    keys?.join(", "),
    url,
    target && elementText(target),
    given !== undefined && given !== "" && `with ${given}`,
    submit === true && "and press Enter",
  ]
    .filter((part) => typeof part === "string" && part !== "")
    .join(" ");
}

function elementText({ fallbacks, name, role, within }: NonNullable<Step["target"]>): string {
  const [first] = fallbacks;
  const own =
    name === undefined && first !== undefined
      ? `${role ?? "element"} with ${first.by} ${first.value}`
      : `${role ?? "element"} “${name ?? ""}”`;
  return within === undefined ? own : `${own} in ${within.role} “${within.name}”`;
}

/** What a step expects afterwards, one text for each condition. */
export function expectationTexts({ expect }: Step): string[] {
  return expect.map(({ element, state = "visible", text, url }) => {
    if (url !== undefined) return `The address is ${url}`;
    return `${text === undefined ? `${element?.role ?? ""} “${element?.name ?? ""}”` : `“${text}”`} is ${state}`;
  });
}
