import {
  ActOnPage,
  ActResult,
  ObservePage,
  PageObservation,
  PageText,
  PrintPage,
  ReadPage,
  ScreenshotPage,
} from "@shoal/schemas";
import { bytes, defineEndpoint, json, optionalJson } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Reads and operates the pages of a session. */
const area = "Browser Pages";

/** Outlines the page with frames and shadow roots as indented lines. References such as `e12` stay with their element until it is removed. Values of password fields are hidden. */
export const observePage = defineEndpoint({
  operationId: "browsers.observe",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true },
  tool: "snapshot",
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/observe",
  summary: "Outline a page.",
  params: sessionId,
  body: optionalJson(ObservePage),
  responses: { 200: json(PageObservation) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Waits until the element is visible, stable, enabled and not covered, acts with real input events, waits for the effects and reports them. Answers 404 `element_not_found`, 409 `ambiguous_target` with the candidates, `stale_reference`, `not_actionable` with the obstacle, `dialog_open`, `navigation_failed`, `wait_timeout` or `page_not_responding`. Actions in one tab run one after another. */
export const actOnPage = defineEndpoint({
  operationId: "browsers.act",
  area,
  plane: "instance",
  inSession: { handoff: "stops", shared: true },
  moves: ["read page_content", "write page_content"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/act",
  summary: "Act on a page.",
  params: sessionId,
  body: json(ActOnPage),
  responses: { 200: json(ActResult) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Reads the page as Markdown: title, main text, links, lists and tables. */
export const readPage = defineEndpoint({
  operationId: "browsers.read",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true },
  tool: "read",
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/read",
  summary: "Read a page as Markdown.",
  params: sessionId,
  body: optionalJson(ReadPage),
  responses: { 200: json(PageText) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Prints the page. */
export const printPage = defineEndpoint({
  operationId: "browsers.pdf",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true },
  tool: "pdf",
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/pdf",
  summary: "Print a page as PDF.",
  params: sessionId,
  body: optionalJson(PrintPage),
  responses: { 200: bytes("application/pdf") },
  errors: [400, 401, 403, 404, 409, 500],
});

/** The visible part of the page, the whole page, or an element. The `Content-Type` of the response is that of `format`. */
export const screenshotPage = defineEndpoint({
  operationId: "browsers.screenshot",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: true, passive: "asked" },
  tool: "screenshot",
  moves: ["read page_content"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It changes nothing." },
  path: "/browsers/{id}/screenshot",
  summary: "Take a picture of a page.",
  params: sessionId,
  body: optionalJson(ScreenshotPage),
  responses: { 200: bytes("image/*") },
  errors: [400, 401, 403, 404, 409, 500],
});
