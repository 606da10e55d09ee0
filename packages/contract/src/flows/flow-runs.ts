import {
  FlowRun,
  FlowRunSummary,
  GetFlowRun,
  GetFlowRunPicture,
  Id,
  lazyObject,
  ListFlowRuns,
  StartFlowRun,
} from "@shoal/schemas";
import { bytes, defineEndpoint, json, optionalJson, page } from "../base/endpoint.ts";

/** Replays of flows. */
const area = "Flow Runs";
const byFlow = lazyObject(() => ({
  /** The flow's id. */
  id: Id,
}));
const byRun = lazyObject(() => ({
  /** The flow's id. */
  id: Id,
  /** The run's id. */
  run_id: Id,
}));

/** Repeats the steps in new browsers, or in a running session, without a model. Each step acts at most once: the service records it before, and a run whose server is lost ends as `unknown`. Values of parameters are stored only in divergences: in `expected`, `seen`, `url` and the picture. Flows and values with stored credentials need the right to them. Specific to Shoal. */
export const startFlowRun = defineEndpoint({
  operationId: "flows.runs.create",
  area,
  plane: "control",
  moves: ["write sessions", "read page_content", "write page_content"],
  method: "POST",
  path: "/flows/{id}/runs",
  summary: "Run a flow.",
  params: byFlow,
  body: optionalJson(StartFlowRun),
  responses: { 201: json(FlowRun) },
  errors: [400, 401, 403, 404, 409, 500, 503],
});

/** Newest first, without rows. Specific to Shoal. */
export const listFlowRuns = defineEndpoint({
  operationId: "flows.runs.list",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/flows/{id}/runs",
  summary: "List runs of a flow.",
  params: byFlow,
  query: ListFlowRuns,
  responses: { 200: page(FlowRunSummary) },
  errors: [400, 401, 403, 404, 500],
});

/** With the steps of each row. A divergence has the step, the expected and the seen. Specific to Shoal. */
export const getFlowRun = defineEndpoint({
  operationId: "flows.runs.get",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/flows/{id}/runs/{run_id}",
  summary: "Get a run of a flow.",
  params: byRun,
  query: GetFlowRun,
  responses: { 200: json(FlowRun) },
  errors: [400, 401, 403, 404, 500],
});

/** A JPEG of the page that differed, of a divergence with `has_picture`. The latest 20 runs of a flow keep 10 each. No picture is taken where the page may show a stored value. Specific to Shoal. */
export const readFlowRunPicture = defineEndpoint({
  operationId: "flows.runs.picture",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/flows/{id}/runs/{run_id}/picture",
  summary: "Read the picture of a divergence.",
  params: byRun,
  query: GetFlowRunPicture,
  responses: { 200: bytes("image/jpeg") },
  errors: [400, 401, 403, 404, 500],
});

/** Ends rows that run, and their browsers. A step that has begun may have acted. A finished run stays as it is. Specific to Shoal. */
export const cancelFlowRun = defineEndpoint({
  operationId: "flows.runs.cancel",
  area,
  plane: "control",
  moves: ["read page_content", "write page_content"],
  method: "POST",
  idempotency: { repeats: "A canceled run stays canceled." },
  path: "/flows/{id}/runs/{run_id}/cancel",
  summary: "Cancel a run of a flow.",
  params: byRun,
  responses: { 200: json(FlowRun) },
  errors: [400, 401, 403, 404, 500],
});
