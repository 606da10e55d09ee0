import type { CommandEntry } from "../../core/types.ts";

const ref = "Reference of an element: e12";
const tab = "A tab: t1; default: the front tab";
const selector = "CSS selector of an element";

export const pageEntries: Readonly<Record<string, CommandEntry>> = {
  "browsers.observe": {
    summary: "Outline a page",
    about: "Prints the page as indented lines. References such as e12 stay with their element until it is removed.",
    help: {
      max_tokens: "Limit of the estimated tokens, 100 to 100000",
      diff: "Only the changes since the last outline of the tab",
      ref: "Only this element and its content: e12",
      tab,
    },
    examples: ["shoal browsers observe research", "shoal browsers observe research --diff"],
  },
  "browsers.act": {
    summary: "Act on a page",
    about: "Waits until the element is ready, acts with real input events, and reports the effects.",
    outcome: "act",
    help: {
      type: "The action",
      tab,
      ref,
      role: "Role of an element: button",
      name: "Accessible name of an element, or a part of it",
      selector,
      to: "For drag: the element to drop on, as JSON",
      "to.ref": "For drag: reference of the element to drop on",
      "to.role": "For drag: role of the element to drop on",
      "to.name": "For drag: name of the element to drop on",
      "to.selector": "For drag: CSS selector of the element to drop on",
      text: "For fill: the new value. For wait_for: a text that appears. For answer_dialog: the answer to a prompt",
      submit: "For fill: press Enter afterwards",
      accept: "For check: check or uncheck. For answer_dialog: accept or dismiss",
      values: "For select: label or value of an option",
      keys: "For press: a key or chord, such as Enter or Control+A",
      paths: "For upload: absolute path of a file in the session",
      delta_x: "For scroll: CSS pixels to the right",
      delta_y: "For scroll: CSS pixels down",
      button: "For click: the mouse button",
      click_count: "For click: 1 to 3 clicks",
      hold_keys: "Key to hold down, such as Shift",
      state: "For wait_for: the state of the element or text",
      url: "For navigate and open_tab: an address. For wait_for: an address or a pattern with *",
      timeout_ms: "Longest wait in milliseconds, 0 to 60000",
      observe: "Also print an outline; its options as JSON",
      "observe.max_tokens": "Outline the page afterwards: limit of the estimated tokens",
      "observe.diff": "Outline the page afterwards: only the changes",
      "observe.ref": "Outline the page afterwards: only this element",
      "observe.tab": "Outline the page afterwards: a tab",
    },
    examples: [
      "shoal browsers act research --type navigate --url https://example.com/",
      "shoal browsers act research --type click --ref e12",
      "shoal browsers act research --type fill --role textbox --name Search --text herring --submit",
    ],
  },
  "browsers.read": {
    summary: "Read a page as Markdown",
    help: {
      content: "The main text, or the whole page",
      max_tokens: "Limit of the estimated tokens, 100 to 100000",
      offset: "Continue after a part: its next offset",
      links: "Include the addresses of links and images",
      ref: "Only this element: e12",
      selector: "Only the first element with this CSS selector",
      tab,
    },
    examples: ["shoal browsers read research", "shoal browsers read research --content all --max-tokens 2000"],
  },
  "browsers.pdf": {
    summary: "Print a page as PDF",
    help: {
      format: "The paper",
      landscape: "Turn the paper",
      scale: "0.1 to 2",
      print_background: "Print background colours and images",
      margin_inches: "Margin on each side in inches, 0 to 4",
      page_ranges: "Pages to print, such as 1-3,5",
      tab,
    },
    examples: ["shoal browsers pdf research -f page.pdf"],
  },
  "browsers.screenshot": {
    summary: "Take a picture of a page",
    help: {
      full_page: "The whole page instead of its visible part",
      ref: "Only this element: e12",
      selector: "Only the first element with this CSS selector",
      labels: "Draw the references of usable elements",
      format: "The file format",
      quality: "Quality of jpeg and webp, 1 to 100",
      max_width: "Shrink wider pictures to this width in pixels",
      tab,
    },
    examples: [
      "shoal browsers screenshot research -f page.png",
      "shoal browsers screenshot research --labels --format jpeg -f page.jpg",
    ],
  },
};
