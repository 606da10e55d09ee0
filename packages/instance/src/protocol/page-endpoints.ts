import { bytes, defineEndpoint, empty, json } from "@shoal/contract";
import { maxRecordedBytes, RecordedActs, ReplayedStep, ReplayStep } from "./flow.ts";
import { FilledFields, FillFields, OnlyPage } from "./fill-fields.ts";
import { OfferedSecret } from "./offered-secret.ts";
import { InstanceRender } from "./render-frame.ts";
import { maxOutlineBytes, PageAct, PageActResult, PageOutline, SettledPage, SettlePage } from "./page.ts";

const control = { area: "Instance Control", plane: "instance", method: "POST" } as const;

/** Reads and operates the front page. The first call begins to follow the page; `releasePage` ends that. */
export const pageControl = {
  offerSecret: defineEndpoint({
    ...control,
    operationId: "offerSecret",
    path: "/_instance/page/secret",
    summary: "Send a stored value for one action of a client.",
    body: json(OfferedSecret),
    responses: { 204: empty },
    errors: [400, 503],
  }),
  readActs: defineEndpoint({
    ...control,
    operationId: "readActs",
    path: "/_instance/page/acts",
    summary: "Read the latest actions of clients, for a flow.",
    responses: { 200: json(RecordedActs, { limitBytes: maxRecordedBytes }) },
    errors: [503],
  }),
  replayStep: defineEndpoint({
    ...control,
    operationId: "replayStep",
    path: "/_instance/page/step",
    summary: "Do a step of a flow, or report how the page differs.",
    body: json(ReplayStep),
    responses: { 200: json(ReplayedStep) },
    errors: [400, 404, 409, 503],
  }),
  fillFields: defineEndpoint({
    ...control,
    operationId: "fillFields",
    path: "/_instance/page/fill",
    summary: "Fill fields of a page with stored values.",
    body: json(FillFields, { limitBytes: 4 * 1024 * 1024 }),
    responses: { 200: json(FilledFields) },
    errors: [400, 403, 409, 503],
  }),
  onlyPage: defineEndpoint({
    ...control,
    operationId: "onlyPage",
    path: "/_instance/page/only",
    summary: "Read the address of the only page.",
    responses: { 200: json(OnlyPage) },
    errors: [503],
  }),
  outlinePage: defineEndpoint({
    ...control,
    operationId: "outlinePage",
    path: "/_instance/page/outline",
    summary: "Read the outline of the front page.",
    responses: { 200: json(PageOutline, { limitBytes: maxOutlineBytes }) },
    errors: [409, 503],
  }),
  actOnPage: defineEndpoint({
    ...control,
    operationId: "actOnPage",
    path: "/_instance/page/act",
    summary: "Fill, click, press, check, select, open an address, or answer an HTTP authentication.",
    body: json(PageAct),
    responses: { 200: json(PageActResult) },
    errors: [400, 409, 503],
  }),
  settlePage: defineEndpoint({
    ...control,
    operationId: "settlePage",
    path: "/_instance/page/settle",
    summary: "Wait until the front page is quiet, and report the events since the last act.",
    body: json(SettlePage),
    responses: { 200: json(SettledPage) },
    errors: [400, 409, 503],
  }),
  renderPage: defineEndpoint({
    ...control,
    operationId: "renderPage",
    path: "/_instance/page/render",
    summary: "Open a page and read everything that was requested; the answer is a RenderFrame.",
    body: json(InstanceRender, { limitBytes: 24 * 2 ** 20 }),
    responses: { 200: bytes("application/octet-stream") },
    errors: [400, 404, 409, 503],
  }),
  releasePage: defineEndpoint({
    ...control,
    operationId: "releasePage",
    path: "/_instance/page/release",
    summary: "Stop following pages.",
    responses: { 204: empty },
    errors: [503],
  }),
};
