import {
  CaptureScreenshot,
  ClickMouse,
  ClipboardText,
  ComputerBatch,
  ComputerBatchError,
  DragMouse,
  MousePosition,
  MoveMouse,
  Ok,
  PressKey,
  Scroll,
  SetCursor,
  TypeText,
  WriteClipboard,
} from "@shoal/schemas";
import { bytes, defineEndpoint, empty, json, optionalJson } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Mouse, keyboard, clipboard and screenshots of a session's screen. */
const area = "Browser Computer Controls";

/** Moves the pointer to the position and clicks. The page receives the same events as from a person. */
export const clickMouse = defineEndpoint({
  operationId: "browsers.computer.clickMouse",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/click_mouse",
  summary: "Click the mouse.",
  params: sessionId,
  body: json(ClickMouse),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Returns when the pointer has arrived. */
export const moveMouse = defineEndpoint({
  operationId: "browsers.computer.moveMouse",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/move_mouse",
  summary: "Move the mouse.",
  params: sessionId,
  body: json(MoveMouse),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** The visible page of a headless session; the whole screen of one with a window. While a dialog is open or a script blocks the page, it shows the last drawn frame. */
export const captureScreenshot = defineEndpoint({
  operationId: "browsers.computer.captureScreenshot",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "screen" },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/computer/screenshot",
  summary: "Take a screenshot.",
  params: sessionId,
  body: optionalJson(CaptureScreenshot),
  responses: { 200: bytes("image/png") },
  errors: [400, 401, 403, 404, 500],
});

/** Types into the focused element. Returns when all text is typed. */
export const typeText = defineEndpoint({
  operationId: "browsers.computer.typeText",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/type",
  summary: "Type text.",
  params: sessionId,
  body: json(TypeText),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Presses keys and chords by name, independent of the keyboard layout. While a dialog is open, `Return` accepts it and `Escape` dismisses it. */
export const pressKey = defineEndpoint({
  operationId: "browsers.computer.pressKey",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/press_key",
  summary: "Press keys.",
  params: sessionId,
  body: json(PressKey),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Turns the mouse wheel at a position. */
export const scroll = defineEndpoint({
  operationId: "browsers.computer.scroll",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/scroll",
  summary: "Scroll with the mouse wheel.",
  params: sessionId,
  body: json(Scroll),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Presses a button at the first point, moves along the others and releases it at the last. */
export const dragMouse = defineEndpoint({
  operationId: "browsers.computer.dragMouse",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/drag_mouse",
  summary: "Drag with the mouse.",
  params: sessionId,
  body: json(DragMouse),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});

/** Affects the screen, screenshots and recordings. Headless browsers draw no pointer. */
export const setCursorVisibility = defineEndpoint({
  operationId: "browsers.computer.setCursorVisibility",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It sets a value." },
  path: "/browsers/{id}/computer/cursor",
  summary: "Show or hide the pointer.",
  params: sessionId,
  body: json(SetCursor),
  responses: { 200: json(Ok) },
  errors: [400, 401, 403, 404, 500],
});

/** Stops at the first action that fails. `failed_action` of the error is its index; earlier actions are done. */
export const batchComputerActions = defineEndpoint({
  operationId: "browsers.computer.batch",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["read page_content", "write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/batch",
  summary: "Do several actions in order.",
  params: sessionId,
  body: json(ComputerBatch),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
  errorBodies: { 400: ComputerBatchError, 500: ComputerBatchError },
});

/** The position after the last action. */
export const getMousePosition = defineEndpoint({
  operationId: "browsers.computer.getMousePosition",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "screen" },
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/computer/get_mouse_position",
  summary: "Get the position of the pointer.",
  params: sessionId,
  responses: { 200: json(MousePosition) },
  errors: [400, 401, 403, 404, 500],
});

/** Text only. */
export const readClipboard = defineEndpoint({
  operationId: "browsers.computer.readClipboard",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/computer/clipboard/read",
  summary: "Read the clipboard.",
  params: sessionId,
  responses: { 200: json(ClipboardText) },
  errors: [400, 401, 403, 404, 500],
});

/** Replaces the previous content. */
export const writeClipboard = defineEndpoint({
  operationId: "browsers.computer.writeClipboard",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: "screen" },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/computer/clipboard/write",
  summary: "Write the clipboard.",
  params: sessionId,
  body: json(WriteClipboard),
  responses: { 200: empty },
  errors: [400, 401, 403, 404, 500],
});
