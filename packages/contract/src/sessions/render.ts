import { LimitError, RenderedPage, RenderPage } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";

const area = "Browsers";

/** Opens an address or HTML in a warm browser, waits, returns everything that `outputs` names, and ends the browser. Waits for a free place up to `timeout_ms`. With one output, `screenshot` or `pdf`, and its type in `Accept`, the answer is the file itself. Answers 409 `navigation_failed` for an address that cannot be opened, for a download and for a PDF, 409 `wait_timeout` if loading or `wait_for` takes too long. */
export const renderPage = defineEndpoint({
  operationId: "browsers.render",
  area,
  plane: "control",
  moves: ["write sessions", "read page_content", "write page_content"],
  scope: ["browsers:create", "browsers:use"],
  method: "POST",
  idempotency: { repeats: "It renders the page again." },
  path: "/render",
  summary: "Render a page without a session.",
  body: json(RenderPage, { limitBytes: 12 * 2 ** 20 }),
  responses: { 200: json(RenderedPage, { alsoTypes: ["image/*", "application/pdf"] }) },
  errors: [400, 401, 403, 404, 409, 429, 500, 501, 503, 507, 529],
  errorBodies: { 429: LimitError },
});
