import { cdpCommandMethods } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import { shownCommand } from "./cdp-commands.ts";

const shown = (method: string, params?: object, rest: object = {}) =>
  shownCommand(Buffer.from(JSON.stringify({ id: 7, method, params, ...rest })));
const data = (method: string, params: object) => {
  const { command_id: id, ...others } = shown(method, params)?.data ?? {};
  expect(id).toBe(7);
  return others;
};

describe("what telemetry shows of the commands of CDP clients", () => {
  it.each(cdpCommandMethods)("knows %s", (method) => {
    expect(shown(method, undefined, { sessionId: "S" })).toEqual({ method, data: { command_id: 7, session_id: "S" } });
  });

  it.each([
    ["Runtime.evaluate", { expression: "'Page.navigate'" }],
    ["Runtime.evaluate", { expression: '"Page.navigate"' }],
    ["Page.enable", {}],
    ["Page.navigateTo", {}],
    ["__proto__", {}],
  ])("ignores %s %j", (method, params) => {
    expect(shown(method, params)).toBeUndefined();
  });

  it.each(["", "[]", "null", '{"method":"Page.close"', '"Page.close"', '["Page.close"]'])("ignores %j", (text) => {
    expect(shownCommand(Buffer.from(text))).toBeUndefined();
  });

  it.each<[string, object, object]>([
    [
      "Input.dispatchMouseEvent",
      {
        type: "mousePressed",
        button: "left",
        buttons: 1,
        clickCount: 2,
        x: 10.5,
        y: 20,
        modifiers: 8,
        pointerType: "laser",
      },
      {
        event_type: "mousePressed",
        button: "left",
        buttons: 1,
        click_count: 2,
        x: 10.5,
        y: 20,
        modifiers: 8,
        pointer_type: "other",
      },
    ],
    ["Input.dispatchKeyEvent", { type: "char", key: "s", text: "s" }, { event_type: "char", text_length: 1 }],
    [
      "Input.dispatchKeyEvent",
      { type: "rawKeyDown", key: "Enter", autoRepeat: false, commands: ["selectAll"] },
      { event_type: "rawKeyDown", named_key: "Enter", auto_repeat: false, command_count: 1 },
    ],
    [
      "Input.dispatchKeyEvent",
      { type: "keyDown", key: "my secret", text: "my secret" },
      { event_type: "keyDown", text_length: 9 },
    ],
    ["Input.insertText", { text: "my secret" }, { text_length: 9 }],
    [
      "Input.dispatchTouchEvent",
      {
        type: "touchStart",
        touchPoints: [
          { x: 1, y: 2, radiusX: 3, force: 0.5 },
          { x: 9, y: 9 },
        ],
      },
      { event_type: "touchStart", touch_point_count: 2, x: 1, y: 2, radius_x: 3, force: 0.5 },
    ],
    [
      "Input.dispatchDragEvent",
      {
        type: "drop",
        x: 1,
        y: 2,
        data: {
          items: [{ mimeType: "text/my-secret" }, { mimeType: "secret" }],
          files: ["/my/secret"],
          dragOperationsMask: 1,
        },
      },
      {
        event_type: "drop",
        x: 1,
        y: 2,
        drag_item_count: 2,
        drag_file_count: 1,
        drag_mime_categories: ["text", "other"],
        drag_operations_mask: 1,
      },
    ],
    [
      "DOM.setFileInputFiles",
      { files: ["/my/secret"], nodeId: 3, objectId: "o".repeat(500) },
      { file_count: 1, node_id: 3, object_id: "o".repeat(128) },
    ],
    [
      "DOM.scrollIntoViewIfNeeded",
      { rect: { x: 1, y: 2, width: 3, height: 4 } },
      { rect_x: 1, rect_y: 2, rect_width: 3, rect_height: 4 },
    ],
    [
      "Page.captureScreenshot",
      { format: "gif", clip: { x: 0, scale: 2 }, quality: 1.5 },
      { format: "other", clip_x: 0, clip_scale: 2 },
    ],
    [
      "Page.navigate",
      { url: "HTTPS://site.example/?my=secret", referrer: "https://secret.example", transitionType: "typed" },
      { url_scheme: "https", referrer_present: true, transition_type: "typed" },
    ],
    ["Page.navigate", { url: "secret:x" }, { url_scheme: "other" }],
    ["Page.handleJavaScriptDialog", { accept: true, promptText: "my secret" }, { accept: true, prompt_text_length: 9 }],
    ["Page.reload", { scriptToEvaluateOnLoad: "secret()" }, { script_length: 8 }],
    [
      "Page.printToPDF",
      { footerTemplate: "secret", pageRanges: "", preferCSSPageSize: true },
      { footer_template_present: true, page_ranges_present: false, prefer_css_page_size: true },
    ],
    [
      "Browser.setWindowBounds",
      { windowId: 1, bounds: { width: 2, windowState: "maximized" } },
      { window_id: 1, width: 2, window_state: "maximized" },
    ],
    [
      "Target.createBrowserContext",
      { proxyServer: "http://secret", originsWithUniversalNetworkAccess: ["a", "b"] },
      { proxy_server_present: true, universal_network_access_origin_count: 2 },
    ],
    ["Autofill.trigger", { fieldId: 1, card: { number: "secret" } }, { field_id: 1, mode: "card" }],
    ["Input.insertText", { text: ["no text"] }, {}],
    ["Browser.setContentsSize", { windowId: 1e300, width: "secret", height: null }, {}],
  ])("has no texts, paths and addresses of %s %j", (method, params, expected) => {
    expect(data(method, params)).toEqual(expected);
  });

  it("knows a command with an escaped name", () => {
    const message = String.raw`{"id":1,"method":"\u0050age.close"}`;
    expect(shownCommand(Buffer.from(message))).toEqual({ method: "Page.close", data: { command_id: 1 } });
  });

  it("leaves out invalid numbers and sessions of commands", () => {
    expect(shown("Page.close", {}, { id: "secret", sessionId: 5 })).toEqual({ method: "Page.close", data: {} });
  });
});
