import {
  cancelFlowRun,
  getFlow,
  getFlowRun,
  listFlows,
  readFlowRunPicture,
  recordFlow,
  startFlowRun,
} from "@shoal/contract";
import { type FlowRun, type FlowValues, StartFlowRun } from "@shoal/schemas";
import * as z from "zod/mini";
import { readBytes } from "../answers/bytes.ts";
import { fieldsOf, joined, noFields, ownField } from "../base/fields.ts";
import { ToolError } from "../base/tool-error.ts";
import { defineTool, text, type Tool, type ToolCall } from "../base/tool.ts";

/** One request; the tool repeats it while the client follows its progress. */
const waitSeconds = 20;
/** Below the usual timeout of calls without progress. */
const longestWaitMs = 45_000;
/** Of a list. */
const maxListed = 100;
/** The service keeps smaller ones. */
const maxPictureBytes = 2 ** 20;

const Flows = z.object({ flows: z.array(z.object({ id: z.string(), name: z.string(), start_url: z.string() })) });

async function waited(flowId: string, runId: string, { options, report, transport }: ToolCall): Promise<FlowRun> {
  const until = performance.now() + longestWaitMs;
  for (;;) {
    const params = { id: flowId, run_id: runId };
    const run = await transport.call(getFlowRun, { params, query: { wait_seconds: waitSeconds } }, options);
    if (run.status !== "running") return run;
    report?.(`${String(run.rows[0]?.steps.length ?? 0)} steps have begun.`);
    if (report === undefined && performance.now() >= until) return run;
  }
}

/** A client that cancels its call does not need the run any more. */
async function started(flowId: string, body: StartFlowRun, call: ToolCall): Promise<FlowRun> {
  const { options, transport } = call;
  const { id: runId } = await transport.call(startFlowRun, { params: { id: flowId }, body }, options);
  try {
    return await waited(flowId, runId, call);
  } catch (error) {
    if (options.signal?.aborted === true)
      await transport.call(cancelFlowRun, { params: { id: flowId, run_id: runId } }).catch(() => undefined);
    throw error;
  }
}

function linesOf({ flow_id: flow, id, rows, status }: FlowRun): string[] {
  if (status === "running")
    return [`The run goes on. Wait for it: run_flow with flow ${JSON.stringify(flow)} and run ${JSON.stringify(id)}`];
  const [row] = rows;
  const steps = row?.steps ?? [];
  const differences = steps.flatMap(({ divergence, step }) =>
    divergence === undefined
      ? []
      : [
          `Step ${String(step)} expected ${divergence.expected}. Seen: ${divergence.seen}`,
          ...divergence.candidates.map((candidate) => `  could be ${candidate}`),
        ],
  );
  const done = steps.filter((step) => step.status === "done" || step.status === "by_person").length;
  const error = row?.error === undefined || row.error === null ? [] : [row.error];
  return [`${status}: ${String(done)} of ${String(steps.length)} begun steps are done.`, ...differences, ...error];
}

/** The page of the first difference that has one. A caller without the right to it still gets the words. */
async function pictureOf({ flow_id: id, id: runId, rows }: FlowRun, { options, transport }: ToolCall) {
  const differing = rows[0]?.steps.find(({ divergence }) => divergence?.has_picture === true);
  if (differing === undefined) return [];
  try {
    const params = { id, run_id: runId };
    const query = { row: 0, step: differing.step };
    const picture = await transport.download(readFlowRunPicture, { params, query }, options);
    const bytes = await readBytes(picture, "The picture", { limitBytes: maxPictureBytes, hint: "" });
    return [{ type: "image", data: bytes.toString("base64"), mimeType: "image/jpeg" } as const];
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    return [];
  }
}

const definitionTools: readonly Tool[] = [
  defineTool<{ readonly name: string }>({
    name: "record_flow",
    group: "flows",
    title: "Record a flow",
    description: "Save the actions of this browser until now as a flow, which run_flow repeats without a model.",
    effect: "changes",
    calls: [recordFlow],
    fields: ownField("name", z.string().check(z.minLength(1), z.maxLength(255)), "Name of the flow"),
    async run({ name }, { browser, options, transport }) {
      const params = { id: await browser() };
      const { flow, forgotten, skipped } = await transport.call(recordFlow, { params, body: { name } }, options);
      const parameters = flow.parameters.map(({ default: usual, name: called, secret }) =>
        secret
          ? `${called} (stored credential)`
          : usual === undefined
            ? called
            : `${called} = ${JSON.stringify(usual)}`,
      );
      const lines = [
        `Flow ${flow.id} has ${String(flow.steps.length)} steps.`,
        parameters.length === 0 ? "" : `Parameters: ${parameters.join(", ")}`,
        ...skipped.map(({ action, reason }) => `Not in it: ${action}. ${reason}`),
        forgotten === 0 ? "" : `${String(forgotten)} earlier actions are forgotten: the flow begins after them.`,
      ];
      return { content: [text(lines.filter((line) => line !== "").join("\n"))] };
    },
  }),
  defineTool({
    name: "list_flows",
    group: "flows",
    title: "List flows",
    description: "List the newest flows of the project.",
    effect: "reads",
    calls: [listFlows],
    usesBrowser: false,
    fields: noFields,
    output: Flows,
    async run(_input, { options, transport }) {
      const { items } = await transport.call(listFlows, { query: { limit: maxListed } }, options);
      const flows = items.map(({ id, name, start_url }) => ({ id, name, start_url }));
      const rows = flows.map(({ id, name, start_url }) => [id, JSON.stringify(name), start_url].join("  "));
      return { content: [text(rows.length === 0 ? "No flows." : rows.join("\n"))], structured: { flows } };
    },
  }),
];

const secretValues = fieldsOf(StartFlowRun, { parameters: "Values of its parameters" });
const textValues = ownField("parameters", z.optional(z.record(z.string(), z.string())), "Values of its parameters");

/** The version of a flow without stored values: a model that is misled cannot use them then. @throws {ToolError} */
async function versionWithoutSecrets(flowId: string, { options, transport }: ToolCall): Promise<number> {
  const { parameters, steps, version } = await transport.call(getFlow, { params: { id: flowId } }, options);
  if (steps.some(({ secret }) => secret !== undefined) || parameters.some(({ secret }) => secret))
    throw new ToolError(
      "needs_secrets",
      "The flow types stored values, and this connection has no group secrets.",
      "Ask the user to connect with the groups flows and secrets.",
    );
  return version;
}

/** @param withSecrets - the connection has the group of stored values. */
function runTool(withSecrets: boolean): Tool {
  return defineTool<{
    readonly flow: string;
    readonly parameters?: FlowValues | undefined;
    readonly run?: string | undefined;
  }>({
    name: "run_flow",
    group: "flows",
    title: "Run a flow",
    description:
      "Repeat a flow in this browser, from its start page. Reports the steps that differ from the page, with a picture.",
    effect: "changes",
    calls: withSecrets ? [startFlowRun, getFlowRun] : [startFlowRun, getFlowRun, getFlow],
    fields: joined(
      ownField("flow", z.string(), "Id of the flow"),
      joined(
        withSecrets ? secretValues : textValues,
        ownField("run", z.optional(z.string()), "Wait for this run instead of a new one"),
      ),
    ),
    async run({ flow, parameters, run: runId }, call) {
      const run = runId === undefined ? await start(flow, parameters, call) : await waited(flow, runId, call);
      const next = run.status === "running" ? [] : ["Call snapshot to see the page."];
      const words = text([...linesOf(run), ...next].join("\n"));
      return { content: [words, ...(run.status === "running" ? [] : await pictureOf(run, call))] };
    },
  });

  async function start(flow: string, parameters: FlowValues | undefined, call: ToolCall): Promise<FlowRun> {
    const version = withSecrets ? undefined : await versionWithoutSecrets(flow, call);
    const session = await call.browser();
    return started(
      flow,
      { session, ...(version !== undefined && { version }), ...(parameters && { parameters }) },
      call,
    );
  }
}

export const flowTools = (withSecrets: boolean): readonly Tool[] => [...definitionTools, runTool(withSecrets)];
