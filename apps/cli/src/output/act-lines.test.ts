import { expect, it } from "vitest";
import { actLines, outlineLines } from "./act-lines.ts";

const nothing = {
  tab: "t1",
  url: "https://example.com/cart",
  title: "Cart",
  navigated: false,
  new_tabs: [],
  downloads: [],
  failed_requests: [],
  settled: true,
};

it("describes the element and the page of an action", () => {
  const element = { ref: "e3", role: "textbox", name: "Search", states: ["focused"], value: "herring" };
  expect(actLines({ ...nothing, element })).toEqual([
    'textbox "Search" [e3], focused, value "herring"',
    'Page: t1 https://example.com/cart "Cart"',
  ]);
});

it("describes each effect in a line, with control characters of the page escaped", () => {
  const lines = actLines({
    ...nothing,
    navigated: true,
    status: 404,
    title: "Not\u001b[2Jfound",
    new_tabs: [{ id: "t2", url: "https://example.com/help", title: "Help", active: false }],
    dialog: { type: "confirm", message: "Delete?\nReally?" },
    downloads: ["a.csv"],
    failed_requests: [{ method: "GET", url: "https://example.com/api", error: "net::ERR_FAILED" }],
    settled: false,
    observation: {
      url: "",
      title: "",
      tab: "t1",
      tabs: [],
      outline: 'heading "Cart"\nbutton "Pay" [e1]',
      tokens: 9,
      left_out: 0,
      diff: false,
      scroll: { above: 0, below: 0 },
    },
  });
  expect(lines).toEqual([
    'Navigated: t1 https://example.com/cart "Not\\u001b[2Jfound" (404)',
    'New tab: t2 https://example.com/help "Help"',
    'Open dialog: confirm "Delete?\\nReally?". Answer it with: --type answer_dialog',
    "Download: a.csv",
    "Failed: GET https://example.com/api net::ERR_FAILED",
    "The page was still changing at the end of the wait.",
    "",
    'heading "Cart"',
    'button "Pay" [e1]',
  ]);
});

it("prints an outline with its page and other tabs, with control characters of the page escaped", () => {
  const observation = {
    url: "https://example.com/cart",
    title: "Cart",
    tab: "t1",
    tabs: [
      { id: "t1", url: "https://example.com/cart", title: "Cart", active: true },
      { id: "t2", url: "https://example.com/help", title: "Help", active: false },
    ],
    outline: 'main\n  button "Pay\u001b[2J" [e1]',
    tokens: 9,
    left_out: 0,
    diff: false,
    scroll: { above: 0, below: 0 },
  };
  expect(outlineLines(observation)).toEqual([
    'Page: t1 https://example.com/cart "Cart"',
    "Other tab: t2 https://example.com/help",
    "",
    "main",
    String.raw`  button "Pay\x1b[2J" [e1]`,
  ]);
  expect(outlineLines({ ...observation, diff: true, outline: "" }).at(-1)).toBe("No changes.");
});
