import type { Command } from "commander";
import type { Adding } from "../../core/types.ts";
import { examplesHelp, outputOption } from "../command-line.ts";
import type { PageFlags } from "./page-flags.ts";

/** A command for the page in front of the current session. */
interface PageCommand {
  readonly name: string;
  /** `<element>`, `[text]`, `<keys...>`: their help is in `argumentHelp`. */
  readonly takes?: readonly string[];
  readonly summary: string;
  readonly about?: string;
  readonly options?: readonly (readonly [flags: string, help: string])[];
  readonly examples: readonly string[];
}

const argumentHelp: Readonly<Record<string, string>> = {
  element: "Reference from a snapshot (e12), or a CSS selector",
  to: "Element to drop on: a reference or a CSS selector",
  url: "Address; https:// is added if the scheme is missing",
  text: "Text; - reads it from stdin",
  values: "Labels or values of the options",
  keys: "Keys or chords, such as Enter or Control+A",
  paths: "Local files",
  tab: "A tab, such as t2",
  message: "The task for the person",
  answer: "accept or dismiss",
  name: "Name of the tool",
  arguments: "Arguments as a JSON object; - reads them from stdin",
};
const timeout = ["--wait <duration>", "Longest wait, such as 500ms, 10s or 1m (default: 10s)"] as const;
const tokens = ["--max-tokens <number>", "Limit of the estimated tokens"] as const;

/** Also for the texts for agents. */
export const pageCommands: readonly PageCommand[] = [
  {
    name: "open",
    takes: ["<url>"],
    summary: "Open a page in the current session",
    about: "Starts a session if this terminal has none. The other page commands use it until it ends.",
    options: [
      ["--new", "Start a new session"],
      ["--tab", "Open a new tab"],
      ["--profile <name>", "Profile of a new session"],
      ["--headful", "Start a new session with a window"],
      ["--stealth", "Start a new session that hides signs of automation"],
      ["--timeout <duration>", "End a new session when it is unused for this time, such as 10m (default: 10m)"],
      timeout,
    ],
    examples: ["shoal open example.com", "shoal open https://example.com/ --new --profile work"],
  },
  {
    name: "snapshot",
    takes: ["[element]"],
    summary: "Outline the page, with references",
    about: "Elements that can be used have a reference such as e12, which stays with them.",
    options: [["--diff", "Print only the changes since the last snapshot"], tokens],
    examples: ["shoal snapshot", "shoal snapshot --diff"],
  },
  {
    name: "click",
    takes: ["<element>"],
    summary: "Click an element",
    options: [
      ["--button <button>", "left, right or middle (default: left)"],
      ["--count <number>", "1 to 3 clicks; 2 is a double click"],
      timeout,
    ],
    examples: ["shoal click e3", "shoal click '#save' --count 2"],
  },
  {
    name: "fill",
    takes: ["<element>", "[text]"],
    summary: "Replace the value of a field",
    options: [
      [
        "--secret <credential/field>",
        "Type a value of a stored credential instead of a text: shop/password, shop/totp_code",
      ],
      ["--submit", "Press Enter afterwards"],
      timeout,
    ],
    examples: ["shoal fill e5 Ada", "shoal fill e6 --secret shop/password --submit"],
  },
  {
    name: "select",
    takes: ["<element>", "<values...>"],
    summary: "Select options of a list",
    options: [timeout],
    examples: ["shoal select e7 Large"],
  },
  {
    name: "check",
    takes: ["<element>"],
    summary: "Check a checkbox",
    options: [["--off", "Uncheck it"], timeout],
    examples: ["shoal check e8", "shoal check e8 --off"],
  },
  {
    name: "press",
    takes: ["<keys...>"],
    summary: "Press keys",
    options: [timeout],
    examples: ["shoal press Enter", "shoal press Control+A Delete"],
  },
  {
    name: "hover",
    takes: ["<element>"],
    summary: "Move the pointer to an element",
    options: [timeout],
    examples: ["shoal hover e4"],
  },
  {
    name: "drag",
    takes: ["<element>", "<to>"],
    summary: "Drag an element to another one",
    options: [timeout],
    examples: ["shoal drag e4 e9"],
  },
  {
    name: "upload",
    takes: ["<element>", "<paths...>"],
    summary: "Choose local files for a file field",
    about: "Copies the files to /home/shoal/Uploads of the session.",
    options: [timeout],
    examples: ["shoal upload e10 report.pdf"],
  },
  {
    name: "scroll",
    takes: ["[element]"],
    summary: "Scroll the page, or an element into view",
    options: [
      ["--down <pixels>", "CSS pixels down (default: 600 without an element)"],
      ["--up <pixels>", "CSS pixels up"],
      timeout,
    ],
    examples: ["shoal scroll", "shoal scroll --up 300", "shoal scroll e12"],
  },
  {
    name: "wait",
    takes: ["[text]"],
    summary: "Wait for a text, an element or an address",
    options: [
      ["--element <element>", argumentHelp.element ?? ""],
      ["--url <pattern>", "Address or pattern with *"],
      ["--hidden", "Until the text or element is hidden"],
      timeout,
    ],
    examples: ["shoal wait 'Order placed'", "shoal wait --url '*/done' --wait 30s"],
  },
  {
    name: "read",
    takes: ["[element]"],
    summary: "Print the page as Markdown",
    options: [
      ["--all", "The whole page instead of the main text"],
      tokens,
      ["--offset <number>", "Continue after a part"],
    ],
    examples: ["shoal read", "shoal read --max-tokens 2000"],
  },
  {
    name: "screenshot",
    takes: ["[element]"],
    summary: "Save a picture of the page",
    options: [
      ["-f, --file <path>", "File to write, or - for stdout (default: page.png, or page-2.png and so on)"],
      ["--full-page", "The whole page instead of its visible part"],
      ["--labels", "Draw the references of usable elements"],
    ],
    examples: ["shoal screenshot", "shoal screenshot e12 -f chart.png"],
  },
  {
    name: "pdf",
    summary: "Save the page as PDF",
    options: [["-f, --file <path>", "File to write, or - for stdout (default: page.pdf, or page-2.pdf and so on)"]],
    examples: ["shoal pdf -f report.pdf"],
  },
  { name: "back", summary: "Go back", options: [timeout], examples: ["shoal back"] },
  { name: "forward", summary: "Go forward", options: [timeout], examples: ["shoal forward"] },
  { name: "reload", summary: "Load the page again", options: [timeout], examples: ["shoal reload"] },
  {
    name: "tabs",
    takes: ["[tab]"],
    summary: "List the tabs, or bring one to the front",
    options: [["--close", "Close the tab"]],
    examples: ["shoal tabs", "shoal tabs t2", "shoal tabs t2 --close"],
  },
  {
    name: "dialog",
    takes: ["<answer>", "[text]"],
    summary: "Answer an open dialog",
    examples: ["shoal dialog accept", "shoal dialog accept 'My name'", "shoal dialog dismiss"],
  },
  {
    name: "handoff",
    takes: ["<message>"],
    summary: "Ask a person for help, and wait",
    about:
      "Prints a link for the person. Input of programs waits until the person returns control. Ctrl-C cancels the request.",
    options: [
      ["--label <name>", "Name of the person, for events and the audit log"],
      ["--timeout <duration>", "Longest time for the person, such as 10m (default: 15m)"],
      ["--refuse", "Refuse input of programs instead of delaying it"],
    ],
    examples: ["shoal handoff 'Please sign in'", "shoal handoff 'Please pay' --label Ana --timeout 30m"],
  },
  {
    name: "tools",
    summary: "List the tools that the page registers for agents",
    about: "All texts of a tool come from the page.",
    examples: ["shoal tools", "shoal tools -o json"],
  },
  {
    name: "tool",
    takes: ["<name>", "[arguments]"],
    summary: "Call a tool of the page",
    options: [
      ["--origin <origin>", "Origin of the frame of the tool, if several frames have it"],
      ["--wait <duration>", "Longest wait, such as 10s or 1m (default: 30s)"],
    ],
    examples: [`shoal tool search '{"query":"herring"}'`],
  },
  { name: "close", summary: "End the current session", examples: ["shoal close"] },
];

/** Adds the commands that need no session id. Their code loads when one of them runs. */
export function addPageCommands({ groupFor, run, specOf }: Adding): void {
  const root = groupFor([]);
  for (const { about, examples, name, options = [], summary, takes = [] } of pageCommands) {
    const command = root.command(name).summary(summary).helpGroup("Pages of the current session:");
    command.description(about === undefined ? summary : `${summary}\n\n${about}`);
    for (const argument of takes) command.argument(argument, argumentHelp[argument.replaceAll(/[<>[\].]/g, "")] ?? "");
    for (const [flags, help] of options) command.option(flags, help);
    command
      .option("-s, --session <id-or-name>", "Session to use (default: SHOAL_SESSION, or this terminal's)")
      .addOption(outputOption())
      .addHelpText("after", examplesHelp(examples))
      .action(async (...given: unknown[]) => {
        const called = given.at(-1) as Command;
        const { PageRun } = await import("./page-run.ts");
        await new PageRun(specOf, called.optsWithGlobals<PageFlags>(), run).run(name, called.args);
      });
  }
}
