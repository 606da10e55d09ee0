import type { OperationsOf } from "@shoal/contract";
import { instanceControl } from "@shoal/instance";
import { callInstance } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { type Handlers, ServiceError } from "@shoal/router";
import type { Flow, FlowRun } from "@shoal/schemas";
import { Readable } from "node:stream";
import type { Access } from "../../http/auth/access.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { Elsewhere } from "../../cluster/elsewhere.ts";
import type { Regions } from "../../cluster/regions.ts";
import { noAnswer } from "../instance-plane/no-answer.ts";
import type { SignInBrowsers } from "../live-view/sign-in-browsers.ts";
import { flowJson, readFlowFile } from "./export/flow-file.ts";
import { playwrightFile } from "./export/playwright.ts";
import { python } from "./export/python.ts";
import { typescript } from "./export/typescript.ts";
import { nothingToRecord } from "./flow-refusals.ts";
import type { Flows } from "./flows.ts";
import type { FlowRunner } from "./run/flow-runner.ts";
import type { FlowRunStore } from "./run/run-store.ts";
import { findCallersSession } from "./run/row-session.ts";
import { recordedContent } from "./record/recorded-flow.ts";

/** A page may have to answer what a person typed last. Milliseconds. */
const readMs = 60_000;

interface FlowParts {
  readonly flows: Flows;
  readonly runner: FlowRunner;
  readonly store: FlowRunStore;
  readonly sessions: Pick<Sessions, "create" | "delete" | "get" | "instanceHere" | "isHere" | "locate">;
  readonly regions: Pick<Regions, "ofSession">;
  readonly signInBrowsers: Pick<SignInBrowsers, "refuse">;
}

export function flowHandlers(parts: FlowParts): Handlers<OperationsOf<"flows" | "flows.runs">, Access> {
  return { ...definitionHandlers(parts), ...runHandlers(parts) };
}

function runHandlers(parts: FlowParts): Handlers<OperationsOf<"flows.runs">, Access> {
  const { flows, regions, runner, sessions, store } = parts;
  return {
    async startFlowRun(call) {
      const { body, context, params, signal } = call;
      const flow = await flows.get(context.projectId, params.id, body.version);
      const session = body.session === undefined ? undefined : await findCallersSession(parts, context, body.session);
      if (session !== undefined && !sessions.isHere(session.id)) {
        const place = await sessions.locate(context.projectId, session.id, undefined);
        if (place instanceof Elsewhere) {
          const forwarded = { ...call, body: { ...body, session: session.id } };
          // The same operation on another server produced this answer.
          return (await regions.ofSession(place, `/flows/${flow.id}/runs`, forwarded)) as FlowRun;
        }
      }
      const id = await runner.start(context, { flow, request: body, session, signal });
      return store.get(context.projectId, flow.id, id);
    },
    async listFlowRuns({ context, params, query }) {
      const flow = await flows.get(context.projectId, params.id);
      return store.list(context.projectId, flow.id, query);
    },
    async getFlowRun({ context: { projectId }, params, query, signal }) {
      const run = await store.get(projectId, params.id, params.run_id);
      if (query.wait_seconds === 0 || run.status !== "running") return run;
      await runner.ended(run.id, anySignal([signal, AbortSignal.timeout(query.wait_seconds * 1000)]));
      return store.get(projectId, params.id, params.run_id);
    },
    async readFlowRunPicture({ context: { projectId }, params, query }) {
      const run = await store.get(projectId, params.id, params.run_id);
      const jpeg = await store.pictures.read(run.id, query);
      return { stream: Readable.from([jpeg]), sizeBytes: jpeg.length };
    },
    async cancelFlowRun({ context: { projectId }, params }) {
      const run = await store.get(projectId, params.id, params.run_id);
      await runner.cancel(run.id);
      return store.get(projectId, params.id, params.run_id);
    },
  };
}

function definitionHandlers({ flows, sessions }: FlowParts): Handlers<OperationsOf<"flows">, Access> {
  return {
    createFlow: ({ body, context }) => flows.create(context.projectId, body),
    async recordFlow({ body: { name, since, values }, context: { projectId }, params, signal }) {
      const { row } = await sessions.get(projectId, params.id, false);
      const instance = await sessions.instanceHere(projectId, row.id);
      const limit = anySignal([signal, AbortSignal.timeout(readMs)]);
      const { acts, forgotten } = await callInstance(instance, instanceControl.readActs, { signal: limit }).catch(
        (error: unknown) => {
          throw noAnswer(error, row.id);
        },
      );
      const sinceMs = since === undefined ? 0 : Date.parse(since);
      const { content, skipped } = recordedContent(
        acts.filter(({ at }) => at >= sinceMs),
        values,
      );
      if (content === undefined) throw ServiceError.of(nothingToRecord(row.id));
      const [oldest] = acts;
      return {
        flow: await flows.create(projectId, { name, ...content }),
        skipped: [...skipped],
        // The forgotten actions are older than the oldest one.
        forgotten: oldest !== undefined && oldest.at < sinceMs ? 0 : forgotten,
      };
    },
    importFlow: ({ body: { name, text }, context }) => flows.create(context.projectId, readFlowFile(text, name)),
    listFlows: ({ context, query }) => flows.list(context.projectId, query),
    getFlow: ({ context, params, query }) => flows.get(context.projectId, params.id, query.version),
    updateFlow: ({ body, context, params }) => flows.update(context.projectId, params.id, body),
    deleteFlow: ({ context, params }) => flows.delete(context.projectId, params.id),
    async exportFlow({ context, params, query: { format, version } }) {
      const flow = await flows.get(context.projectId, params.id, version);
      const { extension, text } = fileOf(flow, format);
      return { stream: Readable.from([Buffer.from(text)]), fileName: `flow.${extension}` };
    },
  };
}

function fileOf(flow: Flow, format: "json" | "playwright_python" | "playwright_ts") {
  switch (format) {
    case "json":
      return { extension: "json", text: flowJson(flow) };
    case "playwright_ts":
      return { extension: "spec.ts", text: playwrightFile(flow, typescript) };
    case "playwright_python":
      return { extension: "py", text: playwrightFile(flow, python) };
  }
}
